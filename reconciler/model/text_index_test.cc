#include "reconciler/model/text_index.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace gpubinder {
namespace {

TEST(TextIndexTest, TheHashOfATextIsTheSameForEver) {
  // By a second implementation of SipHash-1-3, in Python, over the words that
  // text_index.cc makes of the texts.
  EXPECT_EQ(HashOfTexts("", ""), 0x4db6f74451de31e5u);
  EXPECT_EQ(HashOfTexts("tenant-a", "web-0"), 0x62331321692ad03u);
}

TEST(TextIndexTest, TextsThatReadAlikeTogetherHaveOtherHashes) {
  EXPECT_NE(HashOfTexts("a", "bc"), HashOfTexts("ab", "c"));
  EXPECT_NE(HashOfTexts("abcdefgh", ""), HashOfTexts("", "abcdefgh"));
  EXPECT_NE(HashOfTexts("a", ""), HashOfTexts(std::string("a\0", 2), ""));
}

TEST(TextIndexTest, EqualHashesAreToldApartByTheText) {
  const std::vector<std::string> texts = {"a", "b", "c"};
  TextIndex index;
  constexpr uint64_t kHash = 7;
  index.Insert(kHash, 0);
  index.Insert(kHash, 2);
  index.Insert(kHash + 1, 1);
  const auto find = [&](uint64_t hash, const std::string& text) {
    return index.Find(hash, [&](uint32_t i) { return texts[i] == text; });
  };
  EXPECT_EQ(find(kHash, "a"), 0u);
  EXPECT_EQ(find(kHash, "c"), 2u);
  EXPECT_EQ(find(kHash, "b"), std::nullopt);
  EXPECT_EQ(find(kHash + 1, "b"), 1u);
  index.Erase(kHash, 0);
  EXPECT_EQ(find(kHash, "a"), std::nullopt);
  EXPECT_EQ(find(kHash, "c"), 2u);
  index.Erase(kHash, 1);  // is not there
  EXPECT_EQ(find(kHash + 1, "b"), 1u);
}

}  // namespace
}  // namespace gpubinder
