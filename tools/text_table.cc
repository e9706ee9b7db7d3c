#include "tools/text_table.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace gpubinder {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;
constexpr size_t kLeastWidth = 6;

bool ContinuesCharacter(char c) {
  return (static_cast<uint8_t>(c) & 0xc0) == 0x80;
}

// Characters, which are columns but for the rare wide ones.
size_t Width(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !ContinuesCharacter(c); }));
}

// The bytes of the first `columns` characters.
size_t BytesOf(absl::string_view text, size_t columns) {
  size_t at = 0;
  while (at < text.size()) {
    if (!ContinuesCharacter(text[at]) && columns-- == 0) break;
    ++at;
  }
  return at;
}

std::string Cut(std::string text, size_t columns) {
  if (Width(text) <= columns) return text;
  text.resize(BytesOf(text, columns - 3));
  return text + "...";
}

absl::string_view Begin(TextColour colour) {
  switch (colour) {
    case TextColour::kNone:
      return "";
    case TextColour::kGood:
      return "\x1b[32m";
    case TextColour::kBad:
      return "\x1b[33m";
    case TextColour::kHead:
      return "\x1b[1m";
  }
  return "";
}

std::vector<size_t> WidthsOf(const std::vector<TextRow>& rows) {
  std::vector<size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.cells.size()));
    for (size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], Width(row.cells[i].text));
    }
  }
  if (widths.empty()) return widths;
  const size_t room = kTextColumns - kIndent - kGap * (widths.size() - 1);
  while (std::accumulate(widths.begin(), widths.end(), size_t{0}) > room) {
    auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kLeastWidth) break;
    --*widest;
  }
  return widths;
}

std::string Line(const TextRow& row, const std::vector<size_t>& widths,
                 TextStyle style) {
  std::string line;
  std::string spaces(kIndent, ' ');
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const TextCell& cell = row.cells[i];
    const std::string text = Cut(Printable(cell.text), widths[i]);
    const std::string fill(widths[i] - Width(text), ' ');
    const bool coloured = style == TextStyle::kColour && !text.empty() &&
                          cell.colour != TextColour::kNone;
    if (cell.right) spaces += fill;
    if (!text.empty()) {
      // Nothing but text ends a line.
      absl::StrAppend(&line, spaces, coloured ? Begin(cell.colour) : "", text,
                      coloured ? "\x1b[0m" : "");
      spaces.clear();
    }
    if (!cell.right) spaces += fill;
    spaces.append(kGap, ' ');
  }
  return line + "\n";
}

}  // namespace

std::string TextTable(const std::vector<TextRow>& rows, TextStyle style) {
  const std::vector<size_t> widths = WidthsOf(rows);
  std::string table;
  for (const TextRow& row : rows) {
    if (!row.cells.empty()) table += Line(row, widths, style);
    if (row.below.empty()) continue;
    const size_t indent = 3 * kIndent;
    for (const std::string& line : WrapText(row.below, kTextColumns - indent)) {
      absl::StrAppend(&table, std::string(indent, ' '), line, "\n");
    }
  }
  return table;
}

std::vector<std::string> WrapText(absl::string_view text, size_t columns) {
  std::vector<std::string> lines(1);
  for (absl::string_view word :
       absl::StrSplit(Printable(text), ' ', absl::SkipEmpty())) {
    if (!lines.back().empty() &&
        Width(lines.back()) + 1 + Width(word) > columns) {
      lines.emplace_back();
    }
    for (; Width(word) > columns; lines.emplace_back()) {
      const size_t bytes = BytesOf(word, columns);
      absl::StrAppend(&lines.back(), word.substr(0, bytes));
      word.remove_prefix(bytes);
    }
    absl::StrAppend(&lines.back(), lines.back().empty() ? "" : " ", word);
  }
  return lines;
}

std::string MessageLessReason(absl::string_view message,
                              absl::string_view reason) {
  if (message == reason) return "";
  absl::string_view rest = message;
  if (absl::ConsumePrefix(&rest, reason) && absl::ConsumePrefix(&rest, ": ")) {
    return std::string(rest);
  }
  return std::string(message);
}

std::string Printable(absl::string_view text) {
  std::string printable(text);
  std::replace_if(
      printable.begin(), printable.end(),
      [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }, ' ');
  return printable;
}

}  // namespace gpubinder
