// gpubinder_bench: prints the rows of the table of speeds.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/bench/row.h"
#include "tools/bench/rows.h"
#include "tools/flags.h"

namespace gpubinder::bench {
namespace {

constexpr int kExitDone = 0, kExitWrong = 1, kExitUsage = 2;

struct Settings {
  std::vector<std::string> rows;
  RowOptions options;
};

std::vector<Flag> FlagsInto(Settings& settings) {
  return {
      {.name = "rows",
       .value = "a1,d4",
       .help = "the rows to run, in the table's order; all, if not given",
       .set =
           [&settings](absl::string_view text) {
             for (const absl::string_view row : absl::StrSplit(text, ',')) {
               settings.rows.emplace_back(row);
             }
             return absl::OkStatus();
           }},
      {.name = "size",
       .value = "small|full",
       .help = "small: seconds in all, only to see that results are right; "
               "full: the sizes of the table, 7 pairs, many minutes and 8 GiB. "
               "Default small",
       .set =
           [&settings](absl::string_view text) {
             settings.options.size =
                 text == "full" ? Size::kFull : Size::kSmall;
             if (text == "full" || text == "small") return absl::OkStatus();
             return absl::InvalidArgumentError(
                 absl::StrCat("found \"", text, "\", want small or full"));
           }},
      {.name = "seed",
       .value = "NUMBER",
       .help = "of all that is made up; one seed gives one input, byte for "
               "byte. Default 1",
       .set =
           [&settings](absl::string_view text) {
             if (absl::SimpleAtoi(text, &settings.options.seed)) {
               return absl::OkStatus();
             }
             return absl::InvalidArgumentError(absl::StrCat(
                 "found \"", text, "\", want a whole number of 0 or more"));
           }},
      {.name = "directory",
       .value = "DIR",
       .help = "where journals are written, and removed again: its disk is "
               "what a1 measures. Default $TMPDIR, or /tmp",
       .set = IntoText(&settings.options.directory)},
  };
}

std::string Usage(const std::vector<Flag>& flags) {
  std::string text =
      "usage: gpubinder_bench [--rows=a1,d4] [--size=small|full] "
      "[--seed=NUMBER] [--directory=DIR]\n\n"
      "Prints one line of JSON a row, or a variant of a row: both sides' "
      "median, minimum and\nmaximum over interleaved pairs, the ratio, and "
      "whether the bars hold. What is timed is\nchecked first. Build it with "
      "--config=release, and leave the machine alone meanwhile.\n\nrows:\n";
  for (const Row& row : Rows()) {
    absl::StrAppend(&text, "  ", row.name, "  ", row.what, "\n      against ",
                    row.against, "\n");
  }
  absl::StrAppend(
      &text, "\n", FlagsHelp(flags),
      "\nExit codes: 0 all rows printed, whatever the bars say; 1 a result was "
      "wrong or the\nmachine did not let a row run; 2 usage.\n");
  return text;
}

bool IsWanted(const Row& row, const std::vector<std::string>& wanted) {
  return wanted.empty() ||
         std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
}

absl::Status CheckNames(const std::vector<std::string>& wanted) {
  std::vector<std::string> known;
  for (const Row& row : Rows()) known.push_back(row.name);
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--rows: found \"", name, "\", want some of ",
                       absl::StrJoin(known, ",")));
    }
  }
  return absl::OkStatus();
}

int RunRows(const Settings& settings) {
  for (const Row& row : Rows()) {
    if (!IsWanted(row, settings.rows)) continue;
    const absl::Status status =
        row.run(settings.options, [&](const RowResult& result) {
          std::cout << JsonLine(row, settings.options, result) << std::endl;
        });
    if (!status.ok()) {
      std::cerr << "gpubinder_bench: row " << row.name << ": "
                << status.message() << "\n";
      return kExitWrong;
    }
  }
  return kExitDone;
}

int Main(int argc, char** argv) {
  Settings settings;
  const char* const temporary = std::getenv("TMPDIR");
  settings.options.directory = temporary != nullptr ? temporary : "/tmp";
  const std::vector<Flag> flags = FlagsInto(settings);
  const absl::StatusOr<ParsedFlags> parsed =
      ParseFlags(absl::MakeSpan(argv + 1, argc - 1), flags);
  absl::Status status = parsed.status();
  if (status.ok() && parsed->help) {
    std::cout << Usage(flags);
    return kExitDone;
  }
  if (status.ok() && !parsed->operands.empty()) {
    status = absl::InvalidArgumentError(absl::StrCat(
        "found the operand \"", parsed->operands[0], "\", want none"));
  }
  if (status.ok()) status = CheckNames(settings.rows);
  if (!status.ok()) {
    std::cerr << "gpubinder_bench: " << status.message() << "\n";
    return kExitUsage;
  }
  return RunRows(settings);
}

}  // namespace
}  // namespace gpubinder::bench

int main(int argc, char** argv) { return gpubinder::bench::Main(argc, argv); }
