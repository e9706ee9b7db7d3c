// Lines out of a stream that comes in chunks cut anywhere.

#ifndef K8S_LINE_SPLITTER_H_
#define K8S_LINE_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {

class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line_bytes) : max_(max_line_bytes) {}

  enum class Verdict { kMore, kEnough, kTooLong };
  // Calls `on_line` with each line that is whole now, without its newline;
  // empty ones are passed over. kEnough: on_line returned false. kTooLong: a
  // line, whole or not, is over the limit.
  Verdict Add(absl::string_view chunk,
              const std::function<bool(absl::string_view)>& on_line) {
    while (!chunk.empty()) {
      const size_t end = chunk.find('\n');
      const absl::string_view piece = chunk.substr(0, end);
      if (piece.size() > max_ - half_.size()) return Verdict::kTooLong;
      if (end == absl::string_view::npos) {
        half_.append(piece.data(), piece.size());
        return Verdict::kMore;
      }
      chunk.remove_prefix(end + 1);
      absl::string_view line = piece;
      if (!half_.empty()) {
        half_.append(piece.data(), piece.size());
        line = half_;
      }
      const bool more = line.empty() || on_line(line);
      half_.clear();
      if (!more) return Verdict::kEnough;
    }
    return Verdict::kMore;
  }

 private:
  const size_t max_;
  std::string half_;
};

}  // namespace gpubinder

#endif  // K8S_LINE_SPLITTER_H_
