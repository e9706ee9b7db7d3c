// Crashes: a writer killed at any moment, and a machine that loses power with
// what it had not synced.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  std::fflush(stdout);
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

TEST(CrashTest, WhatAKilledWriterWasToldIsSyncedIsThere) {
  TestDirectory tests;
  const JournalOptions options = TestOptions(tests.New("j"));
  std::mt19937_64 random(Seed());
  uint64_t synced = 0;
  for (int round = 0; round < 60; ++round) {
    {
      CrashWriter writer(options.directory, random());
      // Killed after so many acknowledgements: no clock is involved.
      for (uint64_t left = 1 + random() % 60; left > 0; --left) {
        const uint64_t next = writer.NextSynced();
        ASSERT_GT(next, synced);
        synced = next;
      }
      writer.Kill();
      // What it still told before it died.
      while (const uint64_t next = writer.NextSynced()) synced = next;
    }
    const auto journal = Journal::Open(options);
    ASSERT_TRUE(journal.ok()) << "round " << round << ": " << journal.status();
    ExpectPrefix(**journal, synced);
  }
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
