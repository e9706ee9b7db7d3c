#include "reconciler/model/sha256.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/string_view.h"

namespace gpubinder {
namespace {

// NIST's examples for FIPS 180-4.
TEST(Sha256Test, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb924"
            "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223"
            "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039"
      "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                      "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrst"
                      "u"),
            "cf5b16a778af8380036ce59e7b049237"
            "0b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, TakesBytesOfAnyKind) {
  // NIST's byte-oriented short messages.
  EXPECT_EQ(Sha256Hex("\xbd"),
            "68325720aabd7c82f30f554b313d0570"
            "c95accbb7dc4b5aae11204c08ffe732b");
  EXPECT_EQ(Sha256Hex(absl::string_view("\0", 1)),
            "6e340b9cffb37a989ca544e6bb780a2c"
            "78901d3fb33738768511a30617afa01d");
}

// Of zeros, so that each length of the last block is padded right: 55 bytes
// are the most that leave room for the length, 64 fill a block.
TEST(Sha256Test, PadsAtTheEdgesOfABlock) {
  EXPECT_EQ(Sha256Hex(std::string(55, '\0')),
            "02779466cdec163811d078815c633f21"
            "901413081449002f24aa3e80f0b88ef7");
  EXPECT_EQ(Sha256Hex(std::string(56, '\0')),
            "d4817aa5497628e7c77e6b606107042b"
            "bba3130888c5f47a375e6179be789fbb");
  EXPECT_EQ(Sha256Hex(std::string(64, '\0')),
            "f5a5fd42d16a20302798ef6ed309979b"
            "43003d2320d9f0e8ea9831a92759fb4b");
}

TEST(Sha256Test, DigestAndHexAreTheSame) {
  const Sha256Digest digest = Sha256("abc");
  EXPECT_EQ(digest.front(), 0xba);
  EXPECT_EQ(digest[1], 0x78);
  EXPECT_EQ(digest.back(), 0xad);
}

}  // namespace
}  // namespace gpubinder
