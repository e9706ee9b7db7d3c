// What the crash tests kill: crash_writer DIR SEED opens the journal, appends
// and syncs for ever, and writes each synced sequence, 8 bytes of this
// machine's order, to its standard output. A process of its own, since a
// forked child of a test has none of RocksDB's threads.

#include <unistd.h>

#include <cstdio>
#include <random>
#include <vector>

#include "absl/strings/numbers.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

// Returns only when something fails.
int WriteUntilKilled(const std::string& directory, uint64_t seed) {
  std::mt19937_64 random(seed);
  JournalOptions options = TestOptions(directory);
  options.flush_bytes = 30'000;  // so that kills also meet flushes
  const auto journal = Journal::Open(options);
  if (!journal.ok()) {
    std::fprintf(stderr, "%s\n", journal.status().ToString().c_str());
    return 3;
  }
  for (;;) {
    std::vector<v1::Record> records =
        Notes((*journal)->last_sequence() + 1, 1 + random() % 9);
    if (!(*journal)->Append(absl::MakeSpan(records)).ok()) return 4;
    if (random() % 3 == 0) continue;
    if (!(*journal)->Sync().ok()) return 5;
    const uint64_t synced = (*journal)->synced_sequence();
    if (write(1, &synced, sizeof synced) != sizeof synced) return 6;
  }
}

}  // namespace
}  // namespace gpubinder

int main(int argc, char** argv) {
  uint64_t seed = 0;
  if (argc != 3 || !absl::SimpleAtoi(argv[2], &seed)) {
    std::fprintf(stderr, "usage: crash_writer DIR SEED\n");
    return 2;
  }
  return gpubinder::WriteUntilKilled(argv[1], seed);
}
