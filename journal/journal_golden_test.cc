// Journals of every format there ever was. Only ever added to: a journal that
// a release wrote opens in each later one with the same records and digest.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

struct Golden {
  const char* name;
  uint64_t records;
  // Of the last record, computed from the bytes of the log by the description
  // in record.h, with another program than this one.
  const char* last_digest;
};

class GoldenTest : public ::testing::TestWithParam<Golden> {
 protected:
  // Links of the build's own tree must not be opened for writing.
  void SetUp() override {
    const std::string from = std::string("journal/testdata/") + GetParam().name;
    std::filesystem::create_directories(directory_ + "/db");
    for (const std::string& path : FilesUnder(from)) {
      WriteFile(directory_ + path.substr(from.size()), FileText(path));
    }
  }
  void Check(const absl::StatusOr<std::unique_ptr<Journal>>& journal) {
    ASSERT_TRUE(journal.ok()) << journal.status();
    EXPECT_EQ((*journal)->uid(), "5e1f09ab");
    EXPECT_EQ((*journal)->last_sequence(), GetParam().records);
    EXPECT_EQ(absl::BytesToHexString((*journal)->last_digest()),
              GetParam().last_digest);
    const auto read = ReadAll(**journal);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->size(), GetParam().records);
    for (uint64_t i = 1; i <= 6; ++i) EXPECT_EQ(NumberOf((*read)[i - 1]), i);
    EXPECT_EQ((*read)[6].object().kind(), "VirtualMachineInstance");
    EXPECT_EQ((*read)[7].object().kind(), "GPUClaim");
    EXPECT_EQ((*read)[8].object().kind(), "Pod");
    EXPECT_EQ((*read)[8].object().json().substr(0, 32),
              R"({"apiVersion":"v1","kind":"Pod",)");
    EXPECT_EQ(NumberOf(read->back()), 9u);
  }

  TestDirectory tests_;
  std::string directory_ = tests_.New("golden");
};

TEST_P(GoldenTest, OpensForReading) {
  Check(Journal::OpenReadOnly(directory_));
}

TEST_P(GoldenTest, OpensForWritingAndGoesOn) {
  JournalOptions options = TestOptions(directory_);
  options.cluster_uid = "3b0c8f7e-golden";
  Check(Journal::Open(options));
  const auto journal = Journal::Open(options);
  std::vector<v1::Record> more = Notes(10, 1);
  ASSERT_TRUE((*journal)->Append(absl::MakeSpan(more)).ok());
  EXPECT_EQ(absl::BytesToHexString(more[0].previous_digest()),
            GetParam().last_digest);
}

INSTANTIATE_TEST_SUITE_P(Formats, GoldenTest,
                         ::testing::Values(Golden{
                             "golden_1", 22,
                             "5d9edf0db71e0d55b1589633694888e2"}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace gpubinder
