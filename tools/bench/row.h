// A row of the table of speeds: what is compared with what, its bars, and the
// line of JSON that it prints. To add a row, write its function and name it
// in rows.cc.

#ifndef TOOLS_BENCH_ROW_H_
#define TOOLS_BENCH_ROW_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/bench/measure.h"

namespace gpubinder::bench {

enum class Size { kSmall, kFull };

struct RowOptions {
  Size size = Size::kSmall;
  uint64_t seed = 1;
  // For journals; they are removed again. Its disk is what a1 measures.
  std::string directory;

  // 7 pairs in a full run; one less would be no measurement.
  Pairs pairs() const { return {.pairs = size == Size::kFull ? 7 : 2}; }
};

// One line of output.
struct RowResult {
  std::string variant;  // empty: the row has one line
  Comparison comparison;
  // What the bars are about: the ratio, or its inverse, or an exponent.
  double value = 0;
  std::string unit;  // of both sides' figures: "seconds/event"
  std::vector<std::pair<std::string, int64_t>> sizes;
  std::vector<std::pair<std::string, double>> figures;
  std::vector<std::pair<std::string, std::string>> words;
  // What was compared before anything was timed.
  std::string checked;
  // What a reader has to know to judge the figure.
  std::vector<std::string> notes;
  // Whether the bars are about this line.
  bool judged = true;
};

enum class Bound { kAtMost, kAtLeast };

struct Row {
  std::string name;
  std::string what, against;
  Bound bound = Bound::kAtMost;
  double floor = 0, ambitious = 0;
  // Checks first, then times; calls `print` for each line. An error means that
  // a result was wrong, or that the machine does not let it run.
  std::function<absl::Status(
      const RowOptions& options,
      const std::function<void(const RowResult&)>& print)>
      run;
};

// Whether the value is within the bar.
bool Holds(const Row& row, double bar, double value);

// The line, without a newline.
std::string JsonLine(const Row& row, const RowOptions& options,
                     const RowResult& result);

// "small" or "full".
absl::string_view SizeName(Size size);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_ROW_H_
