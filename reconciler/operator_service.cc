#include "reconciler/operator_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "proto/explain.grpc.pb.h"

namespace gpubinder {
namespace {

constexpr absl::Duration kLongestWait = absl::Seconds(5);

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message())};
}

class OperatorService final : public v1::Operator::Service {
 public:
  explicit OperatorService(OperatorCalls calls) : calls_(std::move(calls)) {}

  grpc::Status Confirm(grpc::ServerContext* call,
                       const v1::ConfirmRequest* request,
                       v1::ConfirmResponse* response) override {
    if (!calls_.carry_out || !calls_.prepare) {
      return {grpc::StatusCode::UNIMPLEMENTED, ""};
    }
    v1::ByHand command;
    command.set_user(request->user());
    *command.mutable_confirm_mass_loss()->mutable_nodes() = request->nodes();
    if (request->show_only()) {
      if (absl::Status s = calls_.prepare(command); !s.ok()) return ToGrpc(s);
      *response->mutable_nodes() = command.confirm_mass_loss().nodes();
      return grpc::Status::OK;
    }
    const absl::Time deadline = std::min(absl::FromChrono(call->deadline()),
                                         absl::Now() + kLongestWait);
    const absl::StatusOr<v1::Record> done =
        calls_.carry_out(std::move(command), deadline);
    if (!done.ok()) return ToGrpc(done.status());
    *response->mutable_nodes() = done->by_hand().confirm_mass_loss().nodes();
    response->set_journal_uid(done->journal_uid());
    response->set_sequence(done->sequence());
    return grpc::Status::OK;
  }

 private:
  const OperatorCalls calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeOperatorService(OperatorCalls calls) {
  return std::make_unique<OperatorService>(std::move(calls));
}

}  // namespace gpubinder
