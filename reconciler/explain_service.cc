#include "reconciler/explain_service.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>

#include <chrono>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/explain.grpc.pb.h"
#include "reconciler/explain_answers.h"

namespace gpubinder {
namespace {

// Requests are names and page tokens.
constexpr int kMostRequestBytes = 64 << 10;
constexpr int kMostCallsPerConnection = 64;
constexpr int kMostThreads = 32;
constexpr int kIdleMillis = 5 * 60 * 1000;
constexpr std::chrono::seconds kShutdownGrace(1);

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message())};
}

// Runs `answer` on the latest pass. No call waits for anything, so a deadline
// only keeps work from being begun for a caller that has gone.
template <typename Response, typename Answer>
grpc::Status FromLatest(const grpc::ServerContext& call,
                        const PassBoard& passes, Response& response,
                        const Answer& answer) {
  if (call.IsCancelled() ||
      call.deadline() < std::chrono::system_clock::now()) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline has passed"};
  }
  const std::shared_ptr<const PublishedPass> pass = passes.Latest();
  if (pass == nullptr) {
    return {grpc::StatusCode::UNAVAILABLE,
            "no pass has finished since the binder started"};
  }
  absl::StatusOr<Response> made = answer(*pass);
  if (!made.ok()) return ToGrpc(made.status());
  response = *std::move(made);
  return grpc::Status::OK;
}

class PlacementService final : public v1::Placement::Service {
 public:
  explicit PlacementService(const PassBoard& passes) : passes_(passes) {}

  grpc::Status Explain(grpc::ServerContext* call,
                       const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override {
    return FromLatest(*call, passes_, *response,
                      [request](const PublishedPass& pass) {
                        return AnswerExplain(pass, *request);
                      });
  }
  grpc::Status ListSets(grpc::ServerContext* call,
                        const v1::ListSetsRequest* request,
                        v1::ListSetsResponse* response) override {
    return FromLatest(*call, passes_, *response,
                      [request](const PublishedPass& pass) {
                        return AnswerListSets(pass, *request);
                      });
  }
  grpc::Status ListNodes(grpc::ServerContext* call,
                         const v1::ListNodesRequest* request,
                         v1::ListNodesResponse* response) override {
    return FromLatest(*call, passes_, *response,
                      [request](const PublishedPass& pass) {
                        return AnswerListNodes(pass, *request);
                      });
  }

 private:
  const PassBoard& passes_;
};

class JournalService final : public v1::Journal::Service {
 public:
  JournalService(const PassBoard& passes, std::function<JournalMarks()> marks)
      : passes_(passes), marks_(std::move(marks)) {}

  grpc::Status Status(grpc::ServerContext* call, const v1::StatusRequest*,
                      v1::StatusResponse* response) override {
    if (!marks_) return {grpc::StatusCode::UNIMPLEMENTED, ""};
    return FromLatest(*call, passes_, *response,
                      [this](const PublishedPass& pass)
                          -> absl::StatusOr<v1::StatusResponse> {
                        const JournalMarks marks = marks_();
                        v1::StatusResponse status;
                        *status.mutable_source() = pass.source;
                        status.set_first_sequence(marks.first);
                        status.set_last_sequence(marks.last);
                        status.set_synced_sequence(marks.synced);
                        return status;
                      });
  }

 private:
  const PassBoard& passes_;
  const std::function<JournalMarks()> marks_;
};

// The library, once linked, adds reflection to every server.
class WithoutReflection final : public grpc::ServerBuilderOption {
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>*
                         plugins) override {
    const std::string reflection =
        grpc::reflection::ProtoServerReflectionPlugin().name();
    std::erase_if(*plugins, [&reflection](const auto& plugin) {
      return plugin->name() == reflection;
    });
  }
};

bool IsLoopback(absl::string_view address) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 ||
      port > 65535) {
    return false;
  }
  const absl::string_view host = address.substr(0, colon);
  if (host == "localhost" || host == "[::1]") return true;
  const std::vector<absl::string_view> parts = absl::StrSplit(host, '.');
  if (parts.size() != 4 || parts[0] != "127") return false;
  for (const absl::string_view part : parts) {
    int number = 0;
    if (!absl::SimpleAtoi(part, &number) || number < 0 || number > 255) {
      return false;
    }
  }
  return true;
}

class GrpcExplainService final : public ExplainService {
 public:
  GrpcExplainService(const Options& options, const PassBoard& passes)
      : placement_(passes),
        journal_(passes, options.journal_marks),
        operator_(MakeOperatorService(options.operator_calls)) {}
  ~GrpcExplainService() override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
    server_->Wait();
  }

  absl::Status Listen(const Options& options) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(&placement_);
    builder.RegisterService(&journal_);
    builder.RegisterService(operator_.get());
    if (options.reflection == Reflection::kOff) {
      builder.SetOption(std::make_unique<WithoutReflection>());
    }
    // Else a second binder would share the port unseen.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                               kMostCallsPerConnection);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMillis);
    builder.SetMaxReceiveMessageSize(kMostRequestBytes);
    grpc::ResourceQuota quota("explain");
    quota.SetMaxThreads(kMostThreads);
    builder.SetResourceQuota(quota);
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0) {
      return absl::UnavailableError(absl::StrCat(
          "--grpc-address: found \"", options.address,
          "\", which cannot be listened on; is another binder running there?"));
    }
    for (const char* service :
         {v1::Placement::service_full_name(), v1::Journal::service_full_name(),
          v1::Operator::service_full_name()}) {
      server_->GetHealthCheckService()->SetServingStatus(service, true);
    }
    return absl::OkStatus();
  }

  int port() const override { return port_; }

 private:
  PlacementService placement_;
  JournalService journal_;
  const std::unique_ptr<grpc::Service> operator_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ExplainService>> ExplainService::Start(
    const Options& options, const PassBoard& passes) {
  if (!IsLoopback(options.address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--grpc-address: found \"", options.address,
                     "\", want a loopback address with a port: 127.0.0.1:PORT, "
                     "[::1]:PORT or localhost:PORT"));
  }
  auto server = std::make_unique<GrpcExplainService>(options, passes);
  if (absl::Status listening = server->Listen(options); !listening.ok()) {
    return listening;
  }
  return std::unique_ptr<ExplainService>(std::move(server));
}

}  // namespace gpubinder
