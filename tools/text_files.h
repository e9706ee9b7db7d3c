// Files of YAML or JSON as JSON texts, one for each document.

#ifndef TOOLS_TEXT_FILES_H_
#define TOOLS_TEXT_FILES_H_

#include <iostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

// A JSON value and where it stands: "a.yaml, document 2".
struct InputText {
  std::string where, json;
};

// Reads `paths`; "-" is `in` (once), and a folder stands for its .yaml, .yml
// and .json files by name, not for its folders. A file that begins with
// { or [ is JSON, values one after the other and at most 1,000 levels deep, or
// YAML in that style. Others are YAML. Files of at most 512 MiB.
// kInvalidArgument: what is wrong in it and where. kUnavailable: it is not
// there, or could not be read.
absl::StatusOr<std::vector<InputText>> ReadTextFiles(
    const std::vector<std::string>& paths, std::istream& in);

// The bytes of one file, or of `in` for "-". Errors as above.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path,
                                          std::istream& in);

// The JSON texts of one file's text; `name` is for their places.
absl::StatusOr<std::vector<InputText>> JsonTexts(absl::string_view text,
                                                 const std::string& name);

}  // namespace gpubinder

#endif  // TOOLS_TEXT_FILES_H_
