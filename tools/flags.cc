#include "tools/flags.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/text_table.h"

namespace gpubinder {
namespace {

constexpr size_t kHelpColumn = 34;

// A name less what does not matter in it.
std::string Plain(absl::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_') plain += absl::ascii_tolower(c);
  }
  return plain;
}

size_t Edits(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

// An argument taken apart.
struct Written {
  std::string text;  // "--output", "-o"
  const Flag* flag = nullptr;
  bool help = false;
  std::optional<std::string> value;  // after '='
};

absl::Status UnknownFlag(const Written& written,
                         const std::vector<Flag>& flags) {
  std::vector<std::string> names = {"help"};
  for (const Flag& flag : flags) names.push_back(flag.name);
  const std::string nearest = NearestName(written.text, names);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown flag ", written.text, ", ",
                   nearest.empty() ? "see --help"
                                   : absl::StrCat("did you mean --", nearest)));
}

Written TakeApart(absl::string_view arg, const std::vector<Flag>& flags) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(arg, absl::MaxSplits('=', 1));
  Written written{.text = std::string(parts.first)};
  if (parts.first.size() < arg.size()) {
    written.value = std::string(parts.second);
  }
  absl::string_view name = parts.first;
  const bool is_long = absl::ConsumePrefix(&name, "--");
  if (!is_long) name.remove_prefix(1);
  written.help = is_long ? Plain(name) == "help" : name == "h";
  for (const Flag& flag : flags) {
    // -output is a slip for --output, not -o with the value "utput".
    if (!is_long && Plain(flag.name) == Plain(name)) return written;
  }
  for (const Flag& flag : flags) {
    const bool same = is_long ? Plain(flag.name) == Plain(name)
                              : name.size() == 1 && name[0] == flag.letter;
    if (same) written.flag = &flag;
    if (is_long || name.size() < 2 || name[0] != flag.letter ||
        flag.value.empty()) {
      continue;
    }
    written = {.text = std::string(arg.substr(0, 2)),
               .flag = &flag,
               .value = std::string(arg.substr(2))};
    break;
  }
  return written;
}

// What stands behind a switch and was meant for its value would be an operand
// else, and its error one about a file of that name.
absl::Status CheckBehindSwitch(const Written& written,
                               absl::string_view behind) {
  for (const char* word : {"true", "false", "yes", "no", "on", "off"}) {
    if (behind != word) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "flag ", written.text, ": found \"", behind, "\" behind it, want ",
        written.text, "=true or ", written.text, "=false"));
  }
  return absl::OkStatus();
}

// The value that stands in the next argument, or that a switch implies. True
// in `taken`: the next argument was the value.
absl::Status FindValue(const char* const* next, Written& written, bool* taken) {
  *taken = false;
  if (written.value.has_value()) return absl::OkStatus();
  if (written.flag->value.empty()) {
    written.value = "true";
    return next == nullptr ? absl::OkStatus()
                           : CheckBehindSwitch(written, *next);
  }
  if (next == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "flag ", written.text, " needs a value: ", written.flag->value));
  }
  written.value = *next;
  *taken = true;
  return absl::OkStatus();
}

absl::Status SetFlag(const Written& written) {
  const absl::Status status = written.flag->set(*written.value);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("flag ", written.text, ": ", status.message()));
}

}  // namespace

absl::StatusOr<ParsedFlags> ParseFlags(absl::Span<const char* const> args,
                                       const std::vector<Flag>& flags) {
  ParsedFlags parsed;
  for (size_t i = 0; i < args.size(); ++i) {
    const absl::string_view arg = args[i];
    if (arg == "--") {
      parsed.operands.insert(parsed.operands.end(), args.begin() + i + 1,
                             args.end());
      break;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      parsed.operands.emplace_back(arg);
      continue;
    }
    Written written = TakeApart(arg, flags);
    if (written.help) {
      parsed.help = true;
      return parsed;
    }
    if (written.flag == nullptr) return UnknownFlag(written, flags);
    bool taken = false;
    absl::Status status = FindValue(
        i + 1 < args.size() ? &args[i + 1] : nullptr, written, &taken);
    if (!status.ok()) return status;
    if (taken) ++i;
    if (status = SetFlag(written); !status.ok()) return status;
  }
  return parsed;
}

std::string FlagsHelp(const std::vector<Flag>& flags) {
  std::string help;
  for (const Flag& flag : flags) {
    std::string head = absl::StrCat(
        "  ",
        flag.letter == 0 ? "    "
                         : absl::StrCat("-", std::string(1, flag.letter), ", "),
        "--", flag.name, flag.value.empty() ? "" : " ", flag.value);
    if (head.size() + 2 > kHelpColumn) {
      absl::StrAppend(&help, head, "\n");
      head.clear();
    }
    for (const std::string& line :
         WrapText(flag.help, kTextColumns - kHelpColumn)) {
      head.resize(kHelpColumn, ' ');
      absl::StrAppend(&help, head, line, "\n");
      head.clear();
    }
  }
  return help;
}

std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& known) {
  const std::string plain = Plain(name);
  std::string nearest;
  size_t fewest = 1 + std::max<size_t>(1, plain.size() / 3);
  for (const std::string& candidate : known) {
    const size_t edits = Edits(plain, Plain(candidate));
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

std::function<absl::Status(absl::string_view)> IntoText(std::string* out) {
  return [out](absl::string_view text) {
    *out = std::string(text);
    return absl::OkStatus();
  };
}

std::function<absl::Status(absl::string_view)> IntoList(
    std::vector<std::string>* out) {
  return [out](absl::string_view text) {
    out->emplace_back(text);
    return absl::OkStatus();
  };
}

std::function<absl::Status(absl::string_view)> IntoAddress(std::string* out) {
  return [out](absl::string_view text) {
    const size_t colon = text.rfind(':');
    const absl::string_view host = text.substr(0, colon);
    int port = 0;
    const bool legal =
        colon != absl::string_view::npos && colon > 0 &&
        absl::SimpleAtoi(text.substr(colon + 1), &port) && port > 0 &&
        port < 65536 &&
        // Of an address with colons the brackets say where it ends.
        (host.find(':') == absl::string_view::npos ||
         (host.front() == '[' && host.back() == ']'));
    if (!legal) {
      return absl::InvalidArgumentError(
          absl::StrCat("found \"", text.substr(0, 64),
                       "\", want HOST:PORT with a port from 1 to 65535"));
    }
    *out = std::string(text);
    return absl::OkStatus();
  };
}

std::function<absl::Status(absl::string_view)> IntoSwitch(bool* out) {
  return [out](absl::string_view text) {
    const absl::StatusOr<bool> value = ParseSwitch(text);
    if (!value.ok()) return value.status();
    *out = *value;
    return absl::OkStatus();
  };
}

absl::StatusOr<bool> ParseSwitch(absl::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return absl::InvalidArgumentError(
      absl::StrCat("found \"", text, "\", want true or false"));
}

}  // namespace gpubinder
