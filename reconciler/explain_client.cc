#include "reconciler/explain_client.h"

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/explain.grpc.pb.h"

namespace gpubinder {
namespace {

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  // A proxy of the environment has no business between us and the binder.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

absl::Status ErrorOf(const grpc::Status& status, const std::string& what,
                     const std::string& address) {
  return {static_cast<absl::StatusCode>(status.error_code()),
          absl::StrCat(what, " by the binder at ", address, ": ",
                       status.error_message())};
}

}  // namespace

absl::StatusOr<v1::ExplainResponse> QueryExplain(
    const std::string& address, const v1::ExplainRequest& request,
    absl::Duration timeout) {
  const auto placement = v1::Placement::NewStub(ChannelTo(address));
  grpc::ClientContext call;
  call.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  v1::ExplainResponse response;
  const grpc::Status status = placement->Explain(&call, request, &response);
  if (status.ok()) return response;
  return ErrorOf(status,
                 absl::StrCat("explaining \"", request.namespace_(), "/",
                              request.name(), "\""),
                 address);
}

absl::StatusOr<v1::ConfirmResponse> SendConfirm(
    const std::string& address, const v1::ConfirmRequest& request,
    absl::Duration timeout) {
  const auto by_hand = v1::Operator::NewStub(ChannelTo(address));
  grpc::ClientContext call;
  call.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  v1::ConfirmResponse response;
  const grpc::Status status = by_hand->Confirm(&call, request, &response);
  if (status.ok()) return response;
  return ErrorOf(status, "confirmation", address);
}

}  // namespace gpubinder
