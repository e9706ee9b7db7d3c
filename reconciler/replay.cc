#include "reconciler/replay.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/pass.h"
#include "reconciler/record_fold.h"

namespace gpubinder {
namespace {

// Lines of equal text that a diff keeps at either end.
constexpr size_t kContext = 3;

std::vector<std::string> LinesOf(const v1::Decision& decision) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(decision, &text);
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

}  // namespace

std::string DiffOf(const v1::Decision& recorded, const v1::Decision& computed) {
  const std::vector<std::string> old_lines = LinesOf(recorded);
  const std::vector<std::string> new_lines = LinesOf(computed);
  const size_t shorter = std::min(old_lines.size(), new_lines.size());
  size_t head = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  size_t tail = 0;
  while (tail < shorter - head && old_lines[old_lines.size() - 1 - tail] ==
                                      new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  std::string diff;
  for (size_t i = head - std::min(head, kContext); i < head; ++i) {
    absl::StrAppend(&diff, "  ", old_lines[i], "\n");
  }
  for (size_t i = head; i < old_lines.size() - tail; ++i) {
    absl::StrAppend(&diff, "- ", old_lines[i], "\n");
  }
  for (size_t i = head; i < new_lines.size() - tail; ++i) {
    absl::StrAppend(&diff, "+ ", new_lines[i], "\n");
  }
  for (size_t i = 0; i < std::min(tail, kContext); ++i) {
    absl::StrAppend(&diff, "  ", old_lines[old_lines.size() - tail + i], "\n");
  }
  return diff;
}

absl::StatusOr<ReplayResult> Replay(const Journal& journal,
                                    const ReplayOptions& options) {
  ReplayResult result;
  Snapshot snapshot;
  absl::Time pass_time;
  const absl::Status read = ReadDecoded(
      journal, journal.first_sequence(),
      [&](const v1::Record& record, std::optional<Object> object) {
        ++result.records;
        if (options.on_record) options.on_record(record.sequence());
        if (record.has_pass_began()) {
          pass_time =
              absl::FromUnixNanos(record.pass_began().time_unix_nanos());
        } else if (record.has_decision() &&
                   record.model_version() != kModelVersion) {
          ++result.skipped;
        } else if (record.has_decision()) {
          ++result.passes;
          const v1::Decision computed =
              ToRecord(RunPass(snapshot, pass_time), record.decision().pass());
          if (computed.SerializeAsString() !=
              record.decision().SerializeAsString()) {
            result.differing_pass = record.sequence();
            result.first_difference = DiffOf(record.decision(), computed);
            return false;
          }
        }
        Fold(record, std::move(object), snapshot);
        return true;
      });
  if (!read.ok()) return read;
  return result;
}

}  // namespace gpubinder
