#include "tools/text_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "k8s/json_value.h"
#include "tools/yaml_json.h"

namespace gpubinder {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileBytes = size_t{512} << 20;
// YAML that is written like JSON is for people, and short.
constexpr size_t kMostFlowBytes = size_t{16} << 20;
constexpr int kMostLevels = 1000;

// Where the text stops being UTF-8 that a file of objects may hold, or npos.
size_t FirstBadByte(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const uint8_t first = static_cast<uint8_t>(text[i]);
    size_t more = 0;
    if (first < 0x80) {
      const bool legal = first >= 0x20 || absl::ascii_isspace(text[i]);
      if (!legal) return i;
    } else if (first >= 0xc2 && first < 0xe0) {
      more = 1;
    } else if (first >= 0xe0 && first < 0xf0) {
      more = 2;
    } else if (first >= 0xf0 && first < 0xf5) {
      more = 3;
    } else {
      return i;
    }
    for (size_t j = 1; j <= more; ++j) {
      if (i + j >= text.size() ||
          (static_cast<uint8_t>(text[i + j]) & 0xc0) != 0x80) {
        return i;
      }
    }
    i += more + 1;
  }
  return absl::string_view::npos;
}

absl::Status Bad(const std::string& name, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", message));
}

// The length of the JSON value that `text` begins with, going by its brackets
// and quotes alone; 0 when it does not end, or goes too deep.
size_t ValueLength(absl::string_view text) {
  int levels = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) {
          if (text[i] == '\\') ++i;
        }
        break;
      case '{':
      case '[':
        if (++levels > kMostLevels) return 0;
        break;
      case '}':
      case ']':
        if (--levels == 0) return i + 1;
        break;
      default:
        break;
    }
  }
  return 0;
}

// What may stand between two JSON values.
absl::string_view SkipBetween(absl::string_view rest) {
  do {
    rest = absl::StripLeadingAsciiWhitespace(rest);
  } while (absl::ConsumePrefix(&rest, "---"));
  return rest;
}

absl::StatusOr<std::vector<InputText>> SplitJson(absl::string_view text,
                                                 const std::string& name) {
  std::vector<InputText> texts;
  for (absl::string_view rest = SkipBetween(text); !rest.empty();
       rest = SkipBetween(rest)) {
    const std::string where =
        absl::StrCat(name, ", document ", texts.size() + 1);
    if (rest[0] != '{' && rest[0] != '[') {
      return Bad(where, "found what is no JSON object after the one before");
    }
    const size_t length = ValueLength(rest);
    if (length == 0) {
      return Bad(where, absl::StrCat("the JSON does not end, or is nested "
                                     "deeper than ",
                                     kMostLevels, " levels"));
    }
    const absl::StatusOr<JsonDocument> value =
        JsonDocument::Parse(rest.substr(0, length));
    if (!value.ok()) return Bad(where, value.status().message());
    texts.push_back({where, std::string(rest.substr(0, length))});
    rest.remove_prefix(length);
  }
  return texts;
}

// Whether the first key is quoted. YAML's own flow style, {kind: Pod}, begins
// as JSON does.
bool LooksLikeJson(absl::string_view start) {
  while (!start.empty() && (start[0] == '{' || start[0] == '[' ||
                            absl::ascii_isspace(start[0]))) {
    start.remove_prefix(1);
  }
  return start.empty() || start[0] == '"';
}

bool IsTextFile(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

// The files that a path stands for.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  fs::directory_iterator entries(path, error);
  for (; !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    std::error_code ignored;
    if (IsTextFile(entries->path()) && !entries->is_directory(ignored)) {
      files.push_back(entries->path().string());
    }
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(path, ": cannot be listed: ", error.message()));
  }
  if (files.empty()) {
    return Bad(path, "the folder has no .yaml, .yml or .json file");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path,
                                          std::istream& in) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "stdin" : path;
  std::ifstream file;
  if (!is_stdin) {
    std::error_code error;
    if (!fs::exists(path, error)) {
      return absl::UnavailableError(
          absl::StrCat(name, ": ", error ? error.message() : "no such file"));
    }
    if (fs::is_directory(path, error)) return Bad(name, "is a folder");
    errno = 0;
    file.open(path, std::ios::binary);
    if (!file) {
      return absl::UnavailableError(
          absl::StrCat(name, ": cannot be read: ", std::strerror(errno)));
    }
  }
  std::istream& from = is_stdin ? in : file;
  std::string text;
  std::vector<char> block(size_t{1} << 20);
  while (from.read(block.data(), static_cast<std::streamsize>(block.size())),
         from.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(from.gcount()));
    if (text.size() > kMostFileBytes) {
      return Bad(name,
                 absl::StrCat("is larger than ", kMostFileBytes >> 20, " MiB"));
    }
  }
  if (from.bad()) {
    return absl::UnavailableError(absl::StrCat(name, ": cannot be read"));
  }
  return text;
}

absl::StatusOr<std::vector<InputText>> JsonTexts(absl::string_view text,
                                                 const std::string& name) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  const size_t bad = FirstBadByte(text);
  if (bad != absl::string_view::npos) {
    return Bad(name, absl::StrCat("is neither YAML nor JSON: byte ", bad + 1,
                                  " is no UTF-8 text"));
  }
  const absl::string_view start = SkipBetween(text);
  if (absl::StartsWith(start, "{") || absl::StartsWith(start, "[")) {
    absl::StatusOr<std::vector<InputText>> texts = SplitJson(text, name);
    if (texts.ok() || LooksLikeJson(start) || text.size() > kMostFlowBytes) {
      return texts;
    }
  }
  absl::StatusOr<std::vector<YamlDocument>> documents =
      YamlToJson(text, kMostFileBytes);
  if (!documents.ok()) return Bad(name, documents.status().message());
  std::vector<InputText> texts;
  for (YamlDocument& document : *documents) {
    texts.push_back({absl::StrCat(name, ", document ", document.number),
                     std::move(document.json)});
  }
  return texts;
}

absl::StatusOr<std::vector<InputText>> ReadTextFiles(
    const std::vector<std::string>& paths, std::istream& in) {
  std::vector<InputText> texts;
  bool stdin_read = false;
  for (const std::string& path : paths) {
    if (path == "-" && std::exchange(stdin_read, true)) {
      return Bad("stdin", "is named twice");
    }
    const absl::StatusOr<std::vector<std::string>> files = FilesOf(path);
    if (!files.ok()) return files.status();
    for (const std::string& file : *files) {
      const absl::StatusOr<std::string> text = ReadWholeFile(file, in);
      if (!text.ok()) return text.status();
      absl::StatusOr<std::vector<InputText>> found =
          JsonTexts(*text, file == "-" ? "stdin" : file);
      if (!found.ok()) return found.status();
      std::move(found->begin(), found->end(), std::back_inserter(texts));
    }
  }
  return texts;
}

}  // namespace gpubinder
