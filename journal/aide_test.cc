#include "journal/aide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace gpubinder {
namespace {

using ::testing::ElementsAre;

TEST(AideTest, TasksAreDoneInOrderOnOneOtherThread) {
  Aide aide;
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  for (int i = 1; i <= 3; ++i) {
    aide.Post([&, i] {
      done.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  aide.Drain();
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  EXPECT_THAT(threads, ElementsAre(threads[0], threads[0], threads[0]));
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(AideTest, DrainWaitsForWhatIsUnderWay) {
  Aide aide;
  absl::Notification may_end;
  bool ended = false;
  // Nothing was posted yet.
  aide.Drain();
  aide.Post([&] {
    may_end.WaitForNotification();
    ended = true;
  });
  may_end.Notify();
  aide.Drain();
  EXPECT_TRUE(ended);
}

TEST(AideTest, WhatWasPostedIsDoneBeforeItGoes) {
  absl::Notification may_begin;
  int done = 0;
  {
    Aide aide;
    aide.Post([&] { may_begin.WaitForNotification(); });
    for (int i = 0; i < 100; ++i) aide.Post([&] { ++done; });
    may_begin.Notify();
  }
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace gpubinder
