// All rows that this binary has, in the order of the table.

#ifndef TOOLS_BENCH_ROWS_H_
#define TOOLS_BENCH_ROWS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "tools/bench/row.h"

namespace gpubinder::bench {

const std::vector<Row>& Rows();

using Print = std::function<void(const RowResult&)>;

// journal_rows.cc
absl::Status RunAppend(const RowOptions& options, const Print& print);
absl::Status RunReplay(const RowOptions& options, const Print& print);
// pass_rows.cc
absl::Status RunFullPass(const RowOptions& options, const Print& print);
absl::Status RunGrowth(const RowOptions& options, const Print& print);
absl::Status RunAgainstReference(const RowOptions& options, const Print& print);
// waiting_rows.cc
absl::Status RunWaitingSets(const RowOptions& options, const Print& print);
// event_rows.cc
absl::Status RunOneEvent(const RowOptions& options, const Print& print);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_ROWS_H_
