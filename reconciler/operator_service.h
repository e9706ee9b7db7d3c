// What operators do by hand, over gRPC: the service Operator of
// proto/explain.proto. ExplainService serves it beside the questions.

#ifndef RECONCILER_OPERATOR_SERVICE_H_
#define RECONCILER_OPERATOR_SERVICE_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/journal.pb.h"

namespace grpc {
class Service;
}

namespace gpubinder {

// Called from any thread. Null: the service answers UNIMPLEMENTED.
struct OperatorCalls {
  // Loop::CarryOut.
  std::function<absl::StatusOr<v1::Record>(v1::ByHand, absl::Time deadline)>
      carry_out;
  // What it would fill in, or why it would refuse; changes nothing.
  std::function<absl::Status(v1::ByHand&)> prepare;
};

// A call waits for at most five seconds for the loop.
std::unique_ptr<grpc::Service> MakeOperatorService(OperatorCalls calls);

}  // namespace gpubinder

#endif  // RECONCILER_OPERATOR_SERVICE_H_
