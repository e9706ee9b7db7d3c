#include "reconciler/model/saturating.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace gpubinder {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(SaturatingTest, AddStopsAtTheEnds) {
  EXPECT_EQ(SaturatingAdd(2, 3), 5);
  EXPECT_EQ(SaturatingAdd(2, -3), -1);
  EXPECT_EQ(SaturatingAdd(kMost - 1, 1), kMost);
  EXPECT_EQ(SaturatingAdd(kMost, 1), kMost);
  EXPECT_EQ(SaturatingAdd(1, kMost), kMost);
  EXPECT_EQ(SaturatingAdd(kLeast, -1), kLeast);
  EXPECT_EQ(SaturatingAdd(-1, kLeast), kLeast);
  EXPECT_EQ(SaturatingAdd(kLeast, kMost), -1);
}

TEST(SaturatingTest, SubStopsAtTheEnds) {
  EXPECT_EQ(SaturatingSub(2, 3), -1);
  EXPECT_EQ(SaturatingSub(kLeast, 1), kLeast);
  EXPECT_EQ(SaturatingSub(-2, kMost), kLeast);
  EXPECT_EQ(SaturatingSub(-1, kMost), kLeast);
  EXPECT_EQ(SaturatingSub(kMost, -1), kMost);
  EXPECT_EQ(SaturatingSub(0, kLeast), kMost);
  EXPECT_EQ(SaturatingSub(-1, kLeast), kMost);
}

}  // namespace
}  // namespace gpubinder
