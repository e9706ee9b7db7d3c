// Command-line flags from a table.
//
//   std::string output;
//   const std::vector<Flag> flags = {
//       {.name = "output", .letter = 'o', .value = "table|json",
//        .help = "form of the answer", .set = IntoText(&output)}};
//   absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, flags);
//
// A flag is written --name=value, --name value, -l value, -l=value or -lvalue;
// one without a value is a switch: --name, or --name=false, but --name false is
// an error. In names '-', '_' and the case of letters do not matter, so
// --rejectionTTL, --rejection-ttl and --rejection_ttl are one flag. "--" ends
// the flags; "-" is an operand.

#ifndef TOOLS_FLAGS_H_
#define TOOLS_FLAGS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gpubinder {

struct Flag {
  std::string name;
  char letter = 0;    // 0: none
  std::string value;  // how help calls it; empty: a switch
  std::string help;
  // Called for each occurrence; a switch gets "true" or "false". Its error
  // says what was found and what is legal, without the flag's name.
  std::function<absl::Status(absl::string_view)> set;
};

struct ParsedFlags {
  bool help = false;  // --help or -h: what follows was not looked at
  std::vector<std::string> operands;
};

// kInvalidArgument names the flag; an unknown one gets the nearest name.
absl::StatusOr<ParsedFlags> ParseFlags(absl::Span<const char* const> args,
                                       const std::vector<Flag>& flags);

// One paragraph a flag, at most 100 columns wide.
std::string FlagsHelp(const std::vector<Flag>& flags);

// The known name that needs the fewest edits to become `name`; empty when
// none is near.
std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& known);

// Setters. The target outlives the flag.
std::function<absl::Status(absl::string_view)> IntoText(std::string* out);
std::function<absl::Status(absl::string_view)> IntoList(
    std::vector<std::string>* out);
std::function<absl::Status(absl::string_view)> IntoSwitch(bool* out);
// HOST:PORT of a server to call; [ADDRESS]:PORT where it has colons.
std::function<absl::Status(absl::string_view)> IntoAddress(std::string* out);

// "true" or "false", nothing else.
absl::StatusOr<bool> ParseSwitch(absl::string_view text);

}  // namespace gpubinder

#endif  // TOOLS_FLAGS_H_
