#include "tools/progress_line.h"

#include <string>

#include "absl/strings/ascii.h"

namespace gpubinder {
namespace {

// A line that wraps cannot be wiped.
constexpr size_t kMostColumns = 79;

}  // namespace

void ProgressLine::Say(absl::string_view text) {
  if (!console_.watched) return;
  std::string line(text.substr(0, kMostColumns));
  for (char& c : line) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  Wipe();
  console_.err << line << std::flush;
  columns_ = line.size();
}

void ProgressLine::Wipe() {
  if (columns_ == 0) return;
  console_.err << '\r' << std::string(columns_, ' ') << '\r' << std::flush;
  columns_ = 0;
}

}  // namespace gpubinder
