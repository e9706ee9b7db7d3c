// Asking a running binder.

#ifndef RECONCILER_EXPLAIN_CLIENT_H_
#define RECONCILER_EXPLAIN_CLIENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/explain.pb.h"

namespace gpubinder {

// Placement.Explain of the binder at host:port, without TLS. Blocks for at
// most `timeout`. Errors are the service's (explain_answers.h), kUnavailable
// where none answers or no pass has finished, kDeadlineExceeded.
absl::StatusOr<v1::ExplainResponse> QueryExplain(
    const std::string& address, const v1::ExplainRequest& request,
    absl::Duration timeout);

// Operator.Confirm of the binder at host:port; the rest as above. Errors are
// the loop's (loop.h) and by_hand.h's.
absl::StatusOr<v1::ConfirmResponse> SendConfirm(
    const std::string& address, const v1::ConfirmRequest& request,
    absl::Duration timeout);

}  // namespace gpubinder

#endif  // RECONCILER_EXPLAIN_CLIENT_H_
