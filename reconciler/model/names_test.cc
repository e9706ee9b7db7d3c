#include "reconciler/model/names.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "proto/decision.pb.h"
#include "reconciler/model/label_syntax.h"

namespace gpubinder {
namespace {

// `printf <uid> | sha256sum` begins with 94eeb8ae159f.
constexpr char kUid[] = "6f1c1a2e-0f57-4a4e-9d6e-3d6b4c1f0a11";

TEST(TemplateClaimNameTest, IsVmiEntryAndHash) {
  EXPECT_EQ(TemplateClaimName("web", 0, kUid), "web-0-94eeb8ae");
  EXPECT_EQ(TemplateClaimName("web.prod", 15, kUid), "web.prod-15-94eeb8ae");
}

TEST(TemplateClaimNameTest, CutsTheVmiPartTo63InAll) {
  // "-0-94eeb8ae" has 11 bytes, so 52 are left; "-15-94eeb8ae" leaves 51.
  const std::string fits(52, 'a');
  EXPECT_EQ(TemplateClaimName(fits, 0, kUid), fits + "-0-94eeb8ae");
  EXPECT_EQ(TemplateClaimName(fits + "bcd", 0, kUid), fits + "-0-94eeb8ae");
  EXPECT_EQ(TemplateClaimName(fits, 15, kUid),
            std::string(51, 'a') + "-15-94eeb8ae");
}

TEST(TemplateClaimNameTest, DropsWhatTheCutWouldEndIn) {
  const std::string start(50, 'a');
  EXPECT_EQ(TemplateClaimName(start + "--rest", 0, kUid),
            start + "-0-94eeb8ae");
  EXPECT_EQ(TemplateClaimName(start + "a.rest", 0, kUid),
            start + "a-0-94eeb8ae");
  EXPECT_EQ(TemplateClaimName(start + "-.rest", 0, kUid),
            start + "-0-94eeb8ae");
  EXPECT_EQ(TemplateClaimName(start + "-brest", 0, kUid),
            start + "-b-0-94eeb8ae");
}

TEST(TemplateClaimLabelValueTest, IsCutTo63) {
  EXPECT_EQ(TemplateClaimLabelValue("web"), "web");
  EXPECT_EQ(TemplateClaimLabelValue(std::string(63, 'a')),
            std::string(63, 'a'));
  EXPECT_EQ(TemplateClaimLabelValue(std::string(64, 'a')),
            std::string(63, 'a'));
  EXPECT_EQ(TemplateClaimLabelValue(std::string(62, 'a') + ".b"),
            std::string(62, 'a'));
  EXPECT_EQ(TemplateClaimLabelValue(std::string(61, 'a') + "--b"),
            std::string(61, 'a'));
}

TEST(VmiGpuNameTest, IsEntryAndUnit) {
  EXPECT_EQ(VmiGpuName(0, 0), "gpuclaim-0-0");
  EXPECT_EQ(VmiGpuName(3, 12), "gpuclaim-3-12");
}

TEST(WarningNameTest, IsUidTransitionAndReason) {
  EXPECT_EQ(WarningName(kUid, 7, v1::NO_NODE_FITS),
            "gpubinder-94eeb8ae159f-7-nonodefits");
}

TEST(WarningNameTest, IsALegalNameForEveryReason) {
  for (int number = v1::Reason_MIN; number <= v1::Reason_MAX; ++number) {
    if (!v1::Reason_IsValid(number) || number == v1::REASON_UNSPECIFIED) {
      continue;
    }
    const std::string name =
        WarningName(kUid, std::numeric_limits<int64_t>::max(),
                    static_cast<v1::Reason>(number));
    EXPECT_TRUE(IsDnsSubdomain(name)) << name;
  }
}

TEST(UsageRecordNameTest, IsTheClaimsWithAPrefix) {
  EXPECT_EQ(UsageRecordName("a"), "gpu-a");
}

}  // namespace
}  // namespace gpubinder
