#include "journal/log_fragments.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubinder {
namespace {

constexpr size_t kBlock = 32768;

std::string Little32(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i)
    bytes.push_back(static_cast<char>(value >> 8 * i));
  return bytes;
}

// By the description of the format: {masked CRC of type and payload, length,
// type, payload}.
std::string Fragment(char type, const std::string& payload) {
  const uint32_t crc = Crc32c(std::string(1, type) + payload);
  std::string bytes = Little32(((crc >> 15) | (crc << 17)) + 0xa282ead8u);
  bytes.push_back(static_cast<char>(payload.size() & 0xff));
  bytes.push_back(static_cast<char>(payload.size() >> 8));
  bytes.push_back(type);
  return bytes + payload;
}

TEST(Crc32cTest, AgreesWithThePublishedVectors) {
  // RFC 3720, B.4, and the usual check value.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
}

TEST(LogFragmentsTest, GivesWholeWritesInOrder) {
  const std::string file = Fragment(1, "one") + Fragment(1, "two");
  LogFragments log(file);
  EXPECT_EQ(log.Next(), "one");
  EXPECT_EQ(log.Next(), "two");
  EXPECT_EQ(log.Next(), std::nullopt);
  EXPECT_TRUE(log.AtEnd());
}

TEST(LogFragmentsTest, JoinsTheFragmentsOfAWriteOverBlocks) {
  const std::string first(kBlock - 7, 'a');
  const std::string middle(kBlock - 7, 'b');
  const std::string file =
      Fragment(2, first) + Fragment(3, middle) + Fragment(4, "c");
  LogFragments log(file);
  EXPECT_EQ(log.Next(), first + middle + "c");
  EXPECT_EQ(log.Next(), std::nullopt);
  EXPECT_TRUE(log.AtEnd());
}

TEST(LogFragmentsTest, SkipsTheFewBytesAtABlocksEnd) {
  const std::string file = Fragment(1, std::string(kBlock - 7 - 5, 'a')) +
                           std::string(5, '\0') + Fragment(1, "next");
  LogFragments log(file);
  EXPECT_EQ(log.Next()->size(), kBlock - 12);
  EXPECT_EQ(log.Next(), "next");
  EXPECT_TRUE(log.AtEnd());
}

TEST(LogFragmentsTest, AnEndCutShortIsTornAndNothingFollows) {
  const std::string whole = Fragment(1, "one");
  const std::string file = whole + Fragment(1, "second");
  for (size_t size = whole.size() + 1; size < file.size(); ++size) {
    const std::string cut = file.substr(0, size);
    LogFragments log(cut);
    EXPECT_EQ(log.Next(), "one");
    EXPECT_EQ(log.Next(), std::nullopt);
    EXPECT_FALSE(log.AtEnd());
    EXPECT_EQ(log.whole_bytes(), whole.size());
    EXPECT_FALSE(log.WholeFragmentFollows());
  }
}

TEST(LogFragmentsTest, AWholeWriteAfterABrokenOneIsSeenInItsBlock) {
  std::string file = Fragment(1, "one") + Fragment(1, "two");
  file[5] ^= 0x40;  // one's length
  LogFragments log(file);
  EXPECT_EQ(log.Next(), std::nullopt);
  EXPECT_TRUE(log.WholeFragmentFollows());
}

TEST(LogFragmentsTest, AWholeWriteAfterABrokenOneIsSeenInALaterBlock) {
  std::string file = Fragment(1, std::string(kBlock - 7, 'a')) +
                     Fragment(1, std::string(kBlock - 7, 'b')) +
                     Fragment(1, "c");
  file.replace(10, 2 * kBlock - 10, 2 * kBlock - 10, '\0');
  LogFragments log(file);
  EXPECT_EQ(log.Next(), std::nullopt);
  EXPECT_TRUE(log.WholeFragmentFollows());
}

TEST(LogFragmentsTest, AWriteWhoseEndNeverCameIsCutBackToItsBeginning) {
  const std::string whole = Fragment(1, std::string(kBlock - 7 - 100, 'a'));
  const std::string file = whole + Fragment(2, std::string(93, 'b'));
  LogFragments log(file);
  EXPECT_TRUE(log.Next().has_value());
  EXPECT_EQ(log.Next(), std::nullopt);
  EXPECT_EQ(log.whole_bytes(), whole.size());
  EXPECT_FALSE(log.AtEnd());
}

}  // namespace
}  // namespace gpubinder
