#include "webhook/certificate.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "webhook/test_secret.h"

namespace gpubinder {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string MessageOf(const PairText& text) {
  const absl::StatusOr<TlsPair> pair = MakePair(text);
  EXPECT_TRUE(absl::IsInvalidArgument(pair.status()) || pair.ok())
      << pair.status();
  return std::string(pair.status().message());
}

TEST(CertificateTest, MakesAPairWithItsChainAndItsTimes) {
  TestSecret secret;
  PairText text = secret.Good();
  text.certificate += secret.authority_pem();
  const absl::StatusOr<TlsPair> pair = MakePair(text);
  ASSERT_TRUE(pair.ok()) << pair.status();
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(pair->context.get(), &chain);
  EXPECT_EQ(sk_X509_num(chain), 1);
  const absl::Time now = absl::Now();
  EXPECT_TRUE(CheckValidity(pair->validity, now).ok());
  EXPECT_FALSE(CheckValidity(pair->validity, now + absl::Hours(2)).ok());
  const absl::Status early = CheckValidity(
      {.from = absl::FromUnixSeconds(0), .to = absl::FromUnixSeconds(60)},
      absl::FromUnixSeconds(61));
  EXPECT_EQ(early.message(),
            "tls.crt: found one that is valid from 1970-01-01T00:00:00+00:00 "
            "to 1970-01-01T00:01:00+00:00, want one that is valid now");
}

TEST(CertificateTest, NamesWhatIsWrongWithAPair) {
  TestSecret secret;
  const PairText good = secret.Good(), other = secret.Good();
  EXPECT_EQ(MessageOf({.certificate = good.certificate, .key = other.key}),
            "tls.key: found another certificate's key, want that of the first "
            "certificate of tls.crt");
  EXPECT_EQ(MessageOf({.certificate = "", .key = good.key}),
            "tls.crt: found no certificate, want at least one in PEM");
  EXPECT_THAT(MessageOf({.certificate = good.certificate.substr(0, 200),
                         .key = good.key}),
              AllOf(HasSubstr("tls.crt: found "),
                    HasSubstr("want certificates in PEM")));
  EXPECT_THAT(
      MessageOf({.certificate = good.certificate, .key = good.certificate}),
      AllOf(HasSubstr("tls.key: found "),
            HasSubstr("want a private key in PEM, not encrypted"),
            Not(HasSubstr("BEGIN"))));
  TestAuthority authority;
  const TestCertificate nameless = authority.Issue("gpubinder", "");
  EXPECT_EQ(MessageOf({nameless.certificate, nameless.key}),
            "tls.crt: found no subject alternative name, want the service's "
            "DNS name as one");
}

TEST(CertificateTest, AnEncryptedKeyIsRefusedWithoutAQuestion) {
  TestSecret secret;
  PairText text = secret.Good();
  BIO* bio =
      BIO_new_mem_buf(text.key.data(), static_cast<int>(text.key.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  bio = BIO_new(BIO_s_mem());
  std::string pass = "secret";
  PEM_write_bio_PrivateKey(bio, key, EVP_aes_256_cbc(), nullptr, 0, nullptr,
                           pass.data());
  EVP_PKEY_free(key);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  text.key.assign(data, static_cast<size_t>(size));
  BIO_free(bio);
  EXPECT_THAT(MessageOf(text), HasSubstr("tls.key: found"));
}

TEST(CertificateTest, ReadsPlainFilesToo) {
  TestSecret secret;
  const std::filesystem::path plain =
      std::filesystem::path(testing::TempDir()) / "plain";
  std::filesystem::create_directories(plain);
  for (const char* name : {"tls.crt", "tls.key"}) {
    std::filesystem::copy_file(
        std::filesystem::path(secret.directory()) / name, plain / name,
        std::filesystem::copy_options::overwrite_existing);
  }
  const absl::StatusOr<PairText> linked = ReadPair(secret.directory());
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_EQ(ReadPair(plain).value(), *linked);
}

TEST(CertificateTest, SaysWhichFileIsNotThere) {
  TestSecret secret;
  std::filesystem::remove(std::filesystem::path(secret.directory()) /
                          "..data/tls.key");
  const auto open = ServingCertificate::Open(secret.directory(), absl::Now);
  EXPECT_TRUE(absl::IsUnavailable(open.status()));
  EXPECT_EQ(open.status().message(),
            absl::StrCat("certificates in ", secret.directory(),
                         ": tls.key: No such file or directory"));
  EXPECT_THAT(
      ServingCertificate::Open("/nowhere", absl::Now).status().ToString(),
      HasSubstr("certificates in /nowhere: opening it: No such file"));
}

TEST(CertificateTest, ALargeFileIsNoCertificate) {
  TestSecret secret;
  secret.Swap({.certificate = std::string((1 << 20) + 1, 'a'), .key = ""});
  EXPECT_THAT(ReadPair(secret.directory()).status().ToString(),
              HasSubstr("tls.crt: found more than 1 MiB"));
}

TEST(CertificateTest, TakesANewPairAndKeepsTheOldForABadOne) {
  TestSecret secret;
  auto serving = ServingCertificate::Open(secret.directory(), absl::Now);
  ASSERT_TRUE(serving.ok()) << serving.status();
  const SSL_CTX* const first = (*serving)->context();
  EXPECT_FALSE((*serving)->Look().value());

  const PairText good = secret.Good();
  secret.Swap({.certificate = good.certificate, .key = secret.Good().key});
  EXPECT_THAT((*serving)->Look().status().ToString(),
              HasSubstr("another certificate's key"));
  EXPECT_EQ((*serving)->context(), first);

  secret.Swap(good);
  EXPECT_TRUE((*serving)->Look().value());
  EXPECT_NE((*serving)->context(), first);
}

TEST(CertificateTest, APairOutOfItsTimeIsRefusedLaterButNotAtFirst) {
  TestSecret secret;
  absl::Time now = absl::Now() + absl::Hours(2);
  auto serving =
      ServingCertificate::Open(secret.directory(), [&] { return now; });
  ASSERT_TRUE(serving.ok()) << serving.status();
  secret.Swap(secret.Good());
  EXPECT_THAT((*serving)->Look().status().ToString(),
              HasSubstr("want one that is valid now"));
  now -= absl::Hours(2);
  EXPECT_TRUE((*serving)->Look().value());
}

}  // namespace
}  // namespace gpubinder
