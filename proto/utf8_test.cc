#include "proto/utf8.h"

#include <string>

#include "gtest/gtest.h"
#include "proto/journal.pb.h"

namespace gpubinder {
namespace {

TEST(Utf8WithinTest, KeepsWhatIsUtf8AndShortEnough) {
  EXPECT_EQ(Utf8Within("", 5), "");
  EXPECT_EQ(Utf8Within("abc", 3), "abc");
  // e with an accent, the euro sign, a grinning face.
  const std::string all = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  EXPECT_EQ(Utf8Within(all, 9), all);
}

TEST(Utf8WithinTest, CutsAtAWholeCharacter) {
  EXPECT_EQ(Utf8Within("abcd", 3), "abc");
  EXPECT_EQ(Utf8Within("ab\xc3\xa9", 3), "ab");
  EXPECT_EQ(Utf8Within("\xe2\x82\xac", 2), "");
  EXPECT_EQ(Utf8Within("a\xf0\x9f\x98\x80", 4), "a");
}

TEST(Utf8WithinTest, SaysAQuestionMarkForEachByteThatIsNoUtf8) {
  EXPECT_EQ(Utf8Within("a\xff"
                       "b",
                       9),
            "a?b");
  EXPECT_EQ(Utf8Within("\xc3", 9), "?");                 // cut short
  EXPECT_EQ(Utf8Within("\x80", 9), "?");                 // begins nothing
  EXPECT_EQ(Utf8Within("\xc0\xaf", 9), "??");            // too long a form
  EXPECT_EQ(Utf8Within("\xed\xa0\x80", 9), "???");       // a surrogate
  EXPECT_EQ(Utf8Within("\xf4\x90\x80\x80", 9), "????");  // beyond U+10FFFF
}

TEST(RepairText, EveryStringOfARecordCanBeReadAgain) {
  v1::Record record;
  v1::Decision& decision = *record.mutable_decision();
  v1::Effect& effect = *decision.add_effects();
  effect.mutable_set_condition()->set_message("caf\xc3");
  effect.mutable_write_claim_set()->add_claims("ok");
  effect.mutable_write_claim_set()->add_claims("\xff");
  decision.add_explanations()->set_message("fine");
  decision.set_explanations_digest("\xff\xfe");  // bytes stay as they are
  RepairText(record);
  v1::Record read;
  ASSERT_TRUE(read.ParseFromString(record.SerializeAsString()));
  EXPECT_EQ(read.decision().effects(0).write_claim_set().claims(1), "?");
  EXPECT_EQ(read.decision().effects(0).write_claim_set().claims(0), "ok");
  EXPECT_EQ(read.decision().explanations(0).message(), "fine");
  EXPECT_EQ(read.decision().explanations_digest(), "\xff\xfe");
}

}  // namespace
}  // namespace gpubinder
