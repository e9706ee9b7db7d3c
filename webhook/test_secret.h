// For tests: a mounted Secret with a serving certificate, which is changed as
// kubelet does it, by swapping the link `..data`.

#ifndef WEBHOOK_TEST_SECRET_H_
#define WEBHOOK_TEST_SECRET_H_

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/test_certificates.h"
#include "webhook/certificate.h"

namespace gpubinder {

class TestSecret {
 public:
  TestSecret() : directory_(MakeDirectory()) {
    for (const char* name : {"tls.crt", "tls.key"}) {
      std::filesystem::create_symlink(absl::StrCat("..data/", name),
                                      directory_ / name);
    }
    Swap(Good());
  }
  ~TestSecret() { std::filesystem::remove_all(directory_); }
  TestSecret(const TestSecret&) = delete;
  TestSecret& operator=(const TestSecret&) = delete;

  std::string directory() const { return directory_; }

  // A new pair that fits together.
  PairText Good() {
    const TestCertificate made =
        authority_.Issue("gpubinder", "DNS:gpubinder.cozy-system.svc");
    return {.certificate = made.certificate, .key = made.key};
  }

  void Swap(const PairText& pair) {
    const std::string folder = absl::StrCat("..", ++versions_);
    std::filesystem::create_directory(directory_ / folder);
    Write(directory_ / folder / "tls.crt", pair.certificate);
    Write(directory_ / folder / "tls.key", pair.key);
    std::filesystem::create_symlink(folder, directory_ / "..data_tmp");
    std::filesystem::rename(directory_ / "..data_tmp", directory_ / "..data");
    std::filesystem::remove_all(directory_ / absl::StrCat("..", versions_ - 1));
  }

  const std::string authority_pem() const { return authority_.pem(); }

 private:
  static std::filesystem::path MakeDirectory() {
    std::string name = absl::StrCat(testing::TempDir(), "/secret-XXXXXX");
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }
  static void Write(const std::filesystem::path& path,
                    const std::string& text) {
    std::ofstream(path) << text;
  }

  const std::filesystem::path directory_;
  TestAuthority authority_;
  int versions_ = 0;
};

}  // namespace gpubinder

#endif  // WEBHOOK_TEST_SECRET_H_
