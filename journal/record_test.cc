#include "journal/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "journal/corpus.h"
#include "journal/dictionary.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

using ::testing::HasSubstr;

Digest FromHex(absl::string_view hex) {
  const std::string bytes = absl::HexStringToBytes(hex);
  Digest digest;
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

RecordCodec ShippedCodec() {
  return RecordCodec({{kDictionaryId, std::string(Dictionary())}},
                     kDictionaryId);
}

TEST(SequenceKeyTest, IsBigEndianSoThatKeysSortBySequence) {
  EXPECT_EQ(SequenceKey(0x0102030405060708u), "\1\2\3\4\5\6\7\10");
  EXPECT_LT(SequenceKey(255), SequenceKey(256));
  EXPECT_EQ(*SequenceOfKey(SequenceKey(0xfffefdfcfbfaf9f8u)),
            0xfffefdfcfbfaf9f8u);
  EXPECT_TRUE(absl::IsInvalidArgument(SequenceOfKey("short").status()));
}

TEST(DigestTest, IsTheFirstHalfOfSha256OverAllParts) {
  // FIPS 180-2, appendix B.1: SHA-256 of "abc".
  EXPECT_EQ(DigestOf("a", "b", "c"),
            FromHex("ba7816bf8f01cfea414140de5dae2223"));
  EXPECT_EQ(DigestOf("", "abc", ""), DigestOf("abc", "", ""));
}

TEST(RecordCodecTest, RecordsComeBackAsTheyWere) {
  RecordCodec codec = ShippedCodec();
  Digest previous = GenesisDigest("5e1f09ab");
  uint64_t sequence = 0;
  for (v1::Record& record : MakeCorpus({.seed = 3, .vms = 20})) {
    const auto encoded = Encode(codec, ++sequence, previous, record);
    const auto header = CheckStored(sequence, encoded.stored);
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->previous, previous);
    EXPECT_EQ(header->own, encoded.digest);
    v1::Record back;
    ASSERT_TRUE(codec.Decode(encoded.stored, back).ok());
    EXPECT_EQ(back.SerializeAsString(), record.SerializeAsString());
    previous = encoded.digest;
  }
}

TEST(RecordCodecTest, TheDictionaryMakesRecordsTenTimesSmaller) {
  // Records that it was not trained on.
  RecordCodec codec = ShippedCodec();
  uint64_t plain = 0;
  uint64_t stored = 0;
  uint64_t sequence = 0;
  for (v1::Record& record : MakeCorpus({.seed = 4711, .vms = 200})) {
    plain += record.ByteSizeLong();
    stored += Encode(codec, ++sequence, Digest(), record).stored.size();
  }
  EXPECT_LT(10 * stored, plain);
}

TEST(RecordCodecTest, EachFlippedBitAndEachLengthOfAValueIsFound) {
  RecordCodec codec = ShippedCodec();
  v1::Record record = MakeCorpus({.seed = 1, .vms = 1})[1];
  const auto encoded = Encode(codec, 7, Digest(), record);
  for (size_t bit = 0; bit < 8 * encoded.stored.size(); ++bit) {
    std::string stored = encoded.stored;
    stored[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_TRUE(absl::IsDataLoss(CheckStored(7, stored).status())) << bit;
  }
  for (size_t size = 0; size < encoded.stored.size(); ++size) {
    const auto cut = CheckStored(7, encoded.stored.substr(0, size));
    EXPECT_TRUE(absl::IsDataLoss(cut.status())) << size;
  }
  // The right bytes in the wrong place.
  EXPECT_TRUE(absl::IsDataLoss(CheckStored(8, encoded.stored).status()));
}

TEST(RecordCodecTest, ADictionaryThatIsNotThereIsNamed) {
  RecordCodec writer({{5, "some words"}}, 5);
  v1::Record record;
  const auto encoded = Encode(writer, 1, Digest(), record);
  v1::Record back;
  const absl::Status s = ShippedCodec().Decode(encoded.stored, back);
  EXPECT_TRUE(absl::IsDataLoss(s));
  EXPECT_THAT(std::string(s.message()), HasSubstr("dictionary 5"));
}

TEST(RecordCodecTest, BytesThatNobodyEncodedAreRefused) {
  RecordCodec codec = ShippedCodec();
  v1::Record back;
  for (const std::string& frame :
       {std::string(), std::string("no zstd frame at all"),
        // A frame header that promises 2^62 bytes.
        std::string("\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\0\0\x40", 13)}) {
    std::string stored(23, '\0');
    stored[0] = 1;
    stored[1] = static_cast<char>(kDictionaryId);
    EXPECT_TRUE(absl::IsDataLoss(codec.Decode(stored + frame, back)));
  }
}

TEST(CorpusTest, EqualOptionsGiveEqualRecordsAndOthersDoNot) {
  const auto text = [](uint64_t seed) {
    std::string all;
    for (const v1::Record& record : MakeCorpus({.seed = seed, .vms = 5})) {
      all += record.SerializeAsString();
    }
    return all;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
  // A word of a template that was not filled in.
  for (const v1::Record& record : MakeCorpus({.seed = 1, .vms = 5})) {
    EXPECT_EQ(record.object().json().find("@\""), std::string::npos);
    EXPECT_EQ(record.object().json().find("\"@"), std::string::npos);
  }
}

}  // namespace
}  // namespace gpubinder
