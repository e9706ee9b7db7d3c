#include "k8s/embedded/testing_calls.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

namespace http = boost::beast::http;

std::string ContentType(const std::string& type) {
  if (type == "json") return "application/json";
  if (type == "merge") return "application/merge-patch+json";
  if (type == "patch") return "application/json-patch+json";
  if (type == "strategic") return "application/strategic-merge-patch+json";
  return type;
}

}  // namespace

TestTransport InProcess(std::function<ApiAnswer(const ApiRequest&)> handler) {
  return [handler = std::move(handler)](const TestCall& call) {
    ApiRequest request;
    request.method = call.method;
    request.target = call.target;
    request.content_type = call.body.empty() ? "" : ContentType(call.type);
    request.accept = call.accept;
    request.body = call.body;
    const ApiAnswer answer = handler(request);
    TestAnswer out{answer.response.code, answer.response.body, ""};
    std::string line;
    while (answer.watch != nullptr &&
           answer.watch->Next(absl::ZeroDuration(), line) ==
               WatchStream::State::kLine) {
      out.body += line;
    }
    return out;
  };
}

TestTransport OverHttp(int port) {
  return [port](const TestCall& call) {
    boost::asio::io_context loop;
    boost::asio::ip::tcp::socket socket(loop);
    socket.connect(
        {boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
    http::request<http::string_body> request(http::string_to_verb(call.method),
                                             call.target, 11);
    request.set(http::field::host, "127.0.0.1");
    request.set(http::field::accept, call.accept);
    if (!call.body.empty()) {
      request.set(http::field::content_type, ContentType(call.type));
    }
    request.body() = call.body;
    request.keep_alive(false);
    request.prepare_payload();
    http::write(socket, request);
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    http::read(socket, buffer, response);
    return TestAnswer{static_cast<int>(response.result_int()), response.body(),
                      absl::StrCat(std::string(response["Warning"]), "|",
                                   std::string(response["Retry-After"]))};
  };
}

std::string NamespaceText(absl::string_view name) {
  return DumpJson({{"apiVersion", "v1"},
                   {"kind", "Namespace"},
                   {"metadata", {{"name", std::string(name)}}}});
}

std::string NodeText(absl::string_view name, int gpus) {
  const Json amounts = {{"cpu", "64"},
                        {"memory", "256Gi"},
                        {"ephemeral-storage", "1Ti"},
                        {"pods", "110"},
                        {"devices.kubevirt.io/kvm", "1k"},
                        {"devices.kubevirt.io/tun", "1k"},
                        {"devices.kubevirt.io/vhost-net", "1k"},
                        {"nvidia.com/H100", absl::StrCat(gpus)}};
  return DumpJson({{"apiVersion", "v1"},
                   {"kind", "Node"},
                   {"metadata",
                    {{"name", std::string(name)},
                     {"labels",
                      {{"kubernetes.io/arch", "amd64"},
                       {"kubevirt.io/schedulable", "true"},
                       {"machine-type.node.kubevirt.io/q35", "true"}}}}},
                   {"status",
                    {{"capacity", amounts},
                     {"allocatable", amounts},
                     {"conditions", Json::array({{{"type", "Ready"},
                                                  {"status", "True"}}})}}}});
}

std::string PodText(absl::string_view name, absl::string_view gate, int gpus) {
  Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", std::string(name)}}},
      {"spec",
       {{"containers",
         Json::array(
             {{{"name", "c"},
               {"image", "i"},
               {"resources",
                {{"limits", {{"nvidia.com/H100", absl::StrCat(gpus)}}}}}}})}}}};
  if (!gate.empty()) {
    pod["spec"]["schedulingGates"] =
        Json::array({{{"name", std::string(gate)}}});
  }
  return DumpJson(pod);
}

std::string MachineText(absl::string_view name, absl::string_view strategy,
                        int gpus) {
  Json devices = Json::array();
  for (int i = 0; i < gpus; ++i) {
    devices.push_back({{"name", absl::StrCat("gpuclaim-0-", i)},
                       {"deviceName", "nvidia.com/H100"}});
  }
  return DumpJson(
      {{"apiVersion", "kubevirt.io/v1"},
       {"kind", "VirtualMachine"},
       {"metadata", {{"name", std::string(name)}}},
       {"spec",
        {{"runStrategy", std::string(strategy)},
         {"template",
          {{"metadata",
            {{"labels", {{"app", std::string(name)}}},
             {"annotations",
              {{"gpu.cozystack.io/claims", "[{\"claimName\":\"a\"}]"}}}}},
           {"spec",
            {{"domain",
              {{"memory", {{"guest", "1Gi"}}},
               {"devices", {{"gpus", devices}}}}}}}}}}}});
}

}  // namespace gpubinder::embedded
