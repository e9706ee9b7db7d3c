// Text for people: aligned columns and wrapped paragraphs, in at most 100
// columns. What others wrote is shown without its control characters, so that
// it cannot move a terminal's cursor.

#ifndef TOOLS_TEXT_TABLE_H_
#define TOOLS_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gpubinder {

inline constexpr size_t kTextColumns = 100;

enum class TextColour { kNone, kGood, kBad, kHead };

struct TextCell {
  std::string text;
  TextColour colour = TextColour::kNone;
  bool right = false;  // aligned to the right
};

// A row of cells, and a paragraph under it; either may be empty.
struct TextRow {
  std::vector<TextCell> cells;
  std::string below;
};

enum class TextStyle { kPlain, kColour };

// Columns as wide as their widest cell, parted by two spaces. Where they do
// not fit, the widest are narrowed and their cells cut, with "..." at the end.
std::string TextTable(const std::vector<TextRow>& rows, TextStyle style);

// Lines of at most `columns`, broken at spaces, a longer word inside of it.
std::vector<std::string> WrapText(absl::string_view text, size_t columns);

// A message below a cell that names its reason: without the reason and the
// colon it begins with, and empty when it is the reason alone.
std::string MessageLessReason(absl::string_view message,
                              absl::string_view reason);

// Control characters become spaces.
std::string Printable(absl::string_view text);

}  // namespace gpubinder

#endif  // TOOLS_TEXT_TABLE_H_
