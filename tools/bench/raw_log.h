// The peer of the journal: the same texts as values of a plain RocksDB with
// its default options, by sequence. No chain, no checks, no dictionary.

#ifndef TOOLS_BENCH_RAW_LOG_H_
#define TOOLS_BENCH_RAW_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gpubinder::bench {

enum class Syncing { kEachBatch, kNever };

class RawLog {
 public:
  // Makes the directory, which must not be there.
  static absl::StatusOr<std::unique_ptr<RawLog>> Create(
      const std::string& directory);
  ~RawLog();

  absl::Status Append(absl::Span<const absl::string_view> values,
                      Syncing syncing);
  // What was appended, from the log into table files.
  absl::Status Flush();
  // Visits every value in order.
  absl::Status Read(const std::function<void(absl::string_view)>& visit) const;

 private:
  struct Parts;
  explicit RawLog(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_RAW_LOG_H_
