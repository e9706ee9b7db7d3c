#include "reconciler/explain_client.h"

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/explain.grpc.pb.h"

namespace gpubinder {

absl::StatusOr<v1::ExplainResponse> QueryExplain(
    const std::string& address, const v1::ExplainRequest& request,
    absl::Duration timeout) {
  grpc::ChannelArguments arguments;
  // A proxy of the environment has no business between us and the binder.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const std::unique_ptr<v1::Placement::Stub> placement =
      v1::Placement::NewStub(grpc::CreateCustomChannel(
          address, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext call;
  call.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  v1::ExplainResponse response;
  const grpc::Status status = placement->Explain(&call, request, &response);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                        absl::StrCat("explaining \"", request.namespace_(), "/",
                                     request.name(), "\" by the binder at ",
                                     address, ": ", status.error_message()));
  }
  return response;
}

}  // namespace gpubinder
