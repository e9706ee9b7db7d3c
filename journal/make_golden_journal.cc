// Makes the golden journal of this build's format: make_golden_journal DIR.
//
// One directory a format is checked in under testdata and never made anew:
// every later build must open it. Records 1 to 6 are in table files, the rest
// in the log.

#include <cstdio>
#include <vector>

#include "journal/corpus.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

absl::Status Extend(const JournalOptions& options,
                    std::vector<v1::Record> records) {
  const auto journal = Journal::Open(options);
  if (!journal.ok()) return journal.status();
  if (absl::Status s = (*journal)->Append(absl::MakeSpan(records)); !s.ok()) {
    return s;
  }
  return (*journal)->Sync();
}

absl::Status Make(const std::string& directory) {
  JournalOptions options = TestOptions(directory);
  options.cluster_uid = "3b0c8f7e-golden";
  if (absl::Status s = Extend(options, Notes(1, 6)); !s.ok()) return s;
  std::vector<v1::Record> records = MakeCorpus({.seed = 1, .vms = 1});
  for (const v1::Record& note : Notes(7, 3)) records.push_back(note);
  return Extend(options, std::move(records));
}

}  // namespace
}  // namespace gpubinder

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_golden_journal DIR\n");
    return 2;
  }
  const absl::Status s = gpubinder::Make(argv[1]);
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
