// Crashes: a writer killed at any moment, and a machine that loses power with
// what it had not synced.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "journal/faulty_file_system.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

uint64_t Seed() {
  uint64_t seed = std::random_device()();
  if (const char* given = std::getenv("GPUBINDER_SEED")) {
    if (!absl::SimpleAtoi(given, &seed)) std::abort();
  }
  std::printf("seed: GPUBINDER_SEED=%llu\n",
              static_cast<unsigned long long>(seed));
  return seed;
}

// Records 1 to n in order, n at least `synced`.
void ExpectPrefix(const Journal& journal, uint64_t synced) {
  const absl::StatusOr<std::vector<v1::Record>> read = ReadAll(journal);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_GE(read->size(), synced);
  for (uint64_t i = 0; i < read->size(); ++i) {
    ASSERT_EQ(NumberOf((*read)[i]), i + 1);
  }
}

// Appends and syncs for ever, and tells `out` each sequence that is synced.
[[noreturn]] void WriteUntilKilled(const JournalOptions& options, int out,
                                   uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto journal = Journal::Open(options);
  if (!journal.ok()) _exit(3);
  for (;;) {
    std::vector<v1::Record> records =
        Notes((*journal)->last_sequence() + 1, 1 + random() % 9);
    if (!(*journal)->Append(absl::MakeSpan(records)).ok()) _exit(4);
    if (random() % 3 == 0) continue;
    if (!(*journal)->Sync().ok()) _exit(5);
    const uint64_t synced = (*journal)->synced_sequence();
    if (write(out, &synced, sizeof synced) != sizeof synced) _exit(6);
  }
}

TEST(CrashTest, WhatAKilledWriterWasToldIsSyncedIsThere) {
  TestDirectory tests;
  JournalOptions options = TestOptions(tests.New("j"));
  options.flush_bytes = 30'000;  // so that kills also meet flushes
  std::mt19937_64 random(Seed());
  uint64_t synced = 0;
  for (int round = 0; round < 60; ++round) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const uint64_t seed = random();
    const pid_t child = fork();
    if (child == 0) {
      close(told[0]);
      WriteUntilKilled(options, told[1], seed);
    }
    close(told[1]);
    // Killed after so many acknowledgements: no clock is involved.
    uint64_t left = random() % 40;
    uint64_t sequence = 0;
    while (read(told[0], &sequence, sizeof sequence) == sizeof sequence) {
      synced = sequence;
      if (left-- == 0) break;
    }
    kill(child, SIGKILL);
    // What it still told before it died.
    while (read(told[0], &sequence, sizeof sequence) == sizeof sequence) {
      synced = sequence;
    }
    close(told[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    const auto journal = Journal::Open(options);
    ASSERT_TRUE(journal.ok()) << "round " << round << ": " << journal.status();
    ExpectPrefix(**journal, synced);
  }
  EXPECT_GT(synced, 60u);
}

TEST(CrashTest, APowerCutLosesNothingSyncedWhereverItTearsTheFiles) {
  TestDirectory tests;
  std::mt19937_64 random(Seed());
  int notes = 0;
  for (int round = 0; round < 60; ++round) {
    const auto files = std::make_shared<FaultyFileSystem>();
    JournalOptions options = TestOptions(tests.New("j"));
    options.file_system = files;
    options.flush_bytes = 3'000;
    uint64_t synced = 0;
    for (int life = 0; life < 4; ++life) {
      {
        const auto journal = Journal::Open(options);
        ASSERT_TRUE(journal.ok()) << journal.status();
        ExpectPrefix(**journal, synced);
        if (!(*journal)->opening_note().empty()) ++notes;
        for (uint64_t i = random() % 12; i > 0; --i) {
          std::vector<v1::Record> records =
              Notes((*journal)->last_sequence() + 1, 1 + random() % 9);
          ASSERT_TRUE((*journal)->Append(absl::MakeSpan(records)).ok());
          if (random() % 2 == 0) ASSERT_TRUE((*journal)->Sync().ok());
        }
        synced = (*journal)->synced_sequence();
      }
      files->CutPower(random());
    }
  }
  // Most cuts hit the middle of a write.
  EXPECT_GT(notes, 10);
}

TEST(CrashTest, ALogWhoseSyncsWereLiesIsFoundByTheMark) {
  TestDirectory tests;
  const auto files = std::make_shared<FaultyFileSystem>();
  JournalOptions options = TestOptions(tests.New("j"));
  options.file_system = files;
  Journal::Open(options)->reset();
  files->Set({.lie_about = ".log"});
  {
    const auto journal = Journal::Open(options);
    for (uint64_t first = 1; first < 40; first += 4) {
      std::vector<v1::Record> records = Notes(first, 4);
      ASSERT_TRUE((*journal)->Append(absl::MakeSpan(records)).ok());
      ASSERT_TRUE((*journal)->Sync().ok());
    }
  }
  files->CutPower(Seed());
  // One seed in some thousand would keep all of it.
  const auto journal = Journal::Open(options);
  if (journal.ok()) {
    ExpectPrefix(**journal, 40);
  } else {
    EXPECT_TRUE(absl::IsDataLoss(journal.status())) << journal.status();
  }
}

}  // namespace
}  // namespace gpubinder
