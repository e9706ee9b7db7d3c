// The gRPC services of a running binder, proto/explain.proto: Placement and
// Journal, from the latest finished pass; with the standard health service.
//
//   auto server = ExplainService::Start({.address = "127.0.0.1:0"}, board);
//   ... "127.0.0.1:" << (*server)->port()
//
// Served: Placement.Explain, ListSets, ListNodes, Journal.Status and, by the
// loop, Operator. The other calls answer UNIMPLEMENTED, any question before the
// first pass UNAVAILABLE.
// Answers are made from an immutable copy: no load here holds up the loop.

#ifndef RECONCILER_EXPLAIN_SERVICE_H_
#define RECONCILER_EXPLAIN_SERVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "reconciler/operator_service.h"
#include "reconciler/pass_board.h"

namespace gpubinder {

// What a journal holds, by sequence.
struct JournalMarks {
  uint64_t first = 0, last = 0, synced = 0;
};

class ExplainService {
 public:
  enum class Reflection { kOff, kOn };
  struct Options {
    // host:port; port 0: any free one. Callers are not authenticated, so the
    // host must be a loopback address: 127.x.x.x, [::1] or localhost.
    std::string address = "127.0.0.1:0";
    Reflection reflection = Reflection::kOff;
    // For Journal.Status, from any thread; null: it is UNIMPLEMENTED.
    std::function<JournalMarks()> journal_marks;
    OperatorCalls operator_calls;
  };

  // Listens. `passes` outlives the server. kInvalidArgument: the address is
  // no loopback address; kUnavailable: it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<ExplainService>> Start(
      const Options& options, const PassBoard& passes);

  // Ends calls that are under way after a second.
  virtual ~ExplainService() = default;
  virtual int port() const = 0;
};

}  // namespace gpubinder

#endif  // RECONCILER_EXPLAIN_SERVICE_H_
