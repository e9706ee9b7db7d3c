// Test only: requests to an embedded server, in the process or over HTTP, and
// a clock that stands still until told.

#ifndef K8S_EMBEDDED_TESTING_CALLS_H_
#define K8S_EMBEDDED_TESTING_CALLS_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/embedded/api_message.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

struct TestCall {
  std::string method, target;
  std::string body;
  // json, merge, patch (JSON Patch) or strategic; else a content type.
  std::string type = "json";
  std::string accept = "application/json";
};
struct TestAnswer {
  int code = 0;
  std::string body;
  std::string headers;  // over HTTP
};
using TestTransport = std::function<TestAnswer(const TestCall&)>;

// Watches are read until they end or have nothing more to say.
TestTransport InProcess(std::function<ApiAnswer(const ApiRequest&)> handler);
// A connection a call; watches must end by themselves (timeoutSeconds).
TestTransport OverHttp(int port);

// The instant that `clock` of a server says.
class ManualClock {
 public:
  absl::Time Now() const { return now_; }
  void Advance(absl::Duration by) { now_ += by; }

 private:
  absl::Time now_ = absl::FromUnixSeconds(1767225600);  // 2026-01-01
};

// Objects of tests.
std::string NamespaceText(absl::string_view name);
// A Ready node with 64 cpus, 256Gi and `gpus` units of nvidia.com/H100.
std::string NodeText(absl::string_view name, int gpus);
// A pod that asks for `gpus` units, gated unless `gate` is empty.
std::string PodText(absl::string_view name, absl::string_view gate, int gpus);
// A VM with `gpus` devices.
std::string MachineText(absl::string_view name, absl::string_view strategy,
                        int gpus);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_TESTING_CALLS_H_
