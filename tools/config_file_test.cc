#include "tools/config_file.h"

#include <string>

#include "gtest/gtest.h"
#include "tools/flags.h"

namespace gpubinder {
namespace {

// The error of a file, or what it leaves as `config`.
std::string ErrorOf(absl::string_view text, Config* config = nullptr) {
  Config scratch;
  if (config == nullptr) config = &scratch;
  const absl::Status status = ReadConfig(text, "c.yaml", *config);
  return std::string(status.message());
}

TEST(ConfigFileTest, DefaultsAreThoseOfTheDocumentation) {
  Config config;
  EXPECT_EQ(ErrorOf("", &config), "");
  EXPECT_EQ(config.attachment_grace, absl::Minutes(2));
  EXPECT_EQ(config.journal_max_age, absl::Hours(720));
  EXPECT_EQ(config.journal_max_bytes, 21474836480);
  EXPECT_EQ(config.mass_loss_threshold, 30);
}

TEST(ConfigFileTest, EveryFieldCanBeSet) {
  Config config;
  ASSERT_EQ(ErrorOf(R"(enabled: false
attachmentGrace: 3m
nodeGoneGrace: 0s
endRunning: true
maxEndingsPerNode: 2
maxEndings: 7
massLossThreshold: 100
rejectionTTL: 1h30m
refusalGrace: 1.5s
capacityGrace: 250ms
notReadyGrace: 0
rawResourceNames: denied
extraResourceNames: [nvidia.com/A, nvidia.com/B]
tenantPrefix: t-
namespace: gpu
kubevirtControllerUser: system:serviceaccount:kubevirt:kubevirt-controller
leaseDuration: 30s
renewDeadline: 20s
retryPeriod: 3s
requestTimeout: 6s
journalMaxAge: 7d
journalMaxBytes: 1GiB
observe: true
)",
                    &config),
            "");
  Config want;
  want.enabled = false;
  want.attachment_grace = absl::Minutes(3);
  want.node_gone_grace = absl::ZeroDuration();
  want.end_running = true;
  want.max_endings_per_node = 2;
  want.max_endings = 7;
  want.mass_loss_threshold = 100;
  want.rejection_ttl = absl::Minutes(90);
  want.refusal_grace = absl::Milliseconds(1500);
  want.capacity_grace = absl::Milliseconds(250);
  want.not_ready_grace = absl::ZeroDuration();
  want.raw_resource_names_allowed = false;
  want.extra_resource_names = {"nvidia.com/A", "nvidia.com/B"};
  want.tenant_prefix = "t-";
  want.name_space = "gpu";
  want.kubevirt_controller_user =
      "system:serviceaccount:kubevirt:kubevirt-controller";
  want.lease_duration = absl::Seconds(30);
  want.renew_deadline = absl::Seconds(20);
  want.retry_period = absl::Seconds(3);
  want.request_timeout = absl::Seconds(6);
  want.journal_max_age = absl::Hours(24 * 7);
  want.journal_max_bytes = 1073741824;
  want.observe = true;
  EXPECT_EQ(config, want);
}

TEST(ConfigFileTest, ABadFileIsRefusedWholeWithTheFieldNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"maxEndings: 3\nrejectionTTl: 1m",
       "c.yaml: rejectionTTl: no such field, did you mean rejectionTTL"},
      {"maxEndings: 3\nenabled: \"yes\"",
       "c.yaml: enabled: found \"yes\", want true or false"},
      {"maxEndings: -1",
       "c.yaml: maxEndings: found \"-1\", want a whole number from 0 to "
       "1000000"},
      {"maxEndings: 1.5", "c.yaml: maxEndings: found 1.5, want a whole number"},
      {"massLossThreshold: 101",
       "c.yaml: massLossThreshold: found \"101\", want a whole number from 0 "
       "to 100"},
      {"rejectionTTL: -1m",
       "c.yaml: rejectionTTL: found \"-1m\", want a duration from 0 to 100 "
       "years as in 2m, 1h30m, 250ms or 30d"},
      {"rejectionTTL: 10",
       "c.yaml: rejectionTTL: found \"10\", want a duration from 0 to 100 "
       "years as in 2m, 1h30m, 250ms or 30d"},
      {"rejectionTTL: true",
       "c.yaml: rejectionTTL: found true, want a duration as in 2m"},
      {"rawResourceNames: maybe",
       "c.yaml: rawResourceNames: found \"maybe\", want allowed or denied"},
      {"extraResourceNames: [cpu]",
       "c.yaml: extraResourceNames: found \"cpu\", want the name of an "
       "extended resource, as in nvidia.com/H100"},
      {"extraResourceNames: nvidia.com/A",
       "c.yaml: extraResourceNames: found \"nvidia.com/A\", want a list of "
       "texts"},
      {"namespace: A",
       "c.yaml: namespace: found \"A\", want the name of a namespace"},
      {"journalMaxBytes: 9EB",
       "c.yaml: journalMaxBytes: found \"9EB\", want a number of bytes as in "
       "1000, 512MiB or 20GiB"},
      {"renewDeadline: 15s",
       "c.yaml: leaseDuration: found 15s, want more than renewDeadline, which "
       "is 15s"},
      {"requestTimeout: 10s",
       "c.yaml: renewDeadline: found 10s, want more than requestTimeout, "
       "which is 10s"},
      {"- enabled", "c.yaml: want an object of fields"},
      {"enabled: true\n---\nenabled: true",
       "c.yaml: found two documents, want one"},
  };
  for (const auto& [text, want] : cases) {
    Config config;
    EXPECT_EQ(ErrorOf(text, &config), want);
    EXPECT_EQ(config, Config()) << text;
  }
}

TEST(ConfigFileTest, FlagsWinOverTheFile) {
  Config config;
  ASSERT_EQ(ErrorOf("maxEndings: 7\nextraResourceNames: [a.b/c]", &config), "");
  ConfigChanges changes;
  const std::vector<Flag> flags = ConfigFlags(Config(), &changes);
  const std::vector<const char*> args = {"--max-endings=9",
                                         "--extraResourceNames", "x.y/z,x.y/w",
                                         "--binder-namespace=gpu", "--observe"};
  ASSERT_TRUE(ParseFlags(args, flags).ok());
  ASSERT_TRUE(ApplyChanges(changes, config).ok());
  EXPECT_EQ(config.max_endings, 9);
  EXPECT_EQ(config.extra_resource_names,
            (std::vector<std::string>{"x.y/z", "x.y/w"}));
  EXPECT_EQ(config.name_space, "gpu");
  EXPECT_TRUE(config.observe);
}

TEST(ConfigFileTest, EachFieldOfTheFileHasAFlag) {
  ConfigChanges changes;
  EXPECT_EQ(ConfigFlags(Config(), &changes).size(), 23u);
}

TEST(ConfigFileTest, HelpSaysTheDefaults) {
  Config config;
  config.refusal_grace = absl::Seconds(1);
  ConfigChanges changes;
  const std::string help = FlagsHelp(ConfigFlags(config, &changes));
  for (const char* want : {"(default true)", "(default 1s)", "(default 30d)",
                           "(default 20GiB)", "(default 30)"}) {
    EXPECT_NE(help.find(want), std::string::npos) << want << "\n" << help;
  }
}

TEST(ConfigFileTest, FlagsThatDoNotGoTogetherAreRefused) {
  Config config;
  EXPECT_EQ(
      ApplyChanges({{"leaseDuration", "5s"}}, config).message(),
      "flag --leaseDuration: found 5s, want more than renewDeadline, which is "
      "10s");
  EXPECT_EQ(config, Config());
}

TEST(ConfigFileTest, DurationsOfGo) {
  const std::pair<const char*, absl::Duration> good[] = {
      {"0", absl::ZeroDuration()},
      {"2m", absl::Minutes(2)},
      {"1h30m0.5s", absl::Milliseconds(5400500)},
      {"30d", absl::Hours(720)},
      {"100us", absl::Microseconds(100)},
  };
  for (const auto& [text, want] : good) {
    ASSERT_TRUE(ParseGoDuration(text).ok()) << text;
    EXPECT_EQ(*ParseGoDuration(text), want) << text;
  }
  for (const char* text : {"", "2", "m", "2 m", "1x", "+-1s", "-1s", "1e3s",
                           "99999999999999999999h", ".s", "nan", "inf"}) {
    EXPECT_FALSE(ParseGoDuration(text).ok()) << text;
  }
}

TEST(ConfigFileTest, SizesStopAtTheEndOfInt64) {
  EXPECT_EQ(*ParseBytes("1000"), 1000);
  EXPECT_EQ(*ParseBytes("3KiB"), 3072);
  EXPECT_EQ(*ParseBytes("8388607TiB"), int64_t{8388607} << 40);
  for (const char* text : {"", "KiB", "1.5GiB", "8388608TiB", "-1", "1 GiB"}) {
    EXPECT_FALSE(ParseBytes(text).ok()) << text;
  }
}

}  // namespace
}  // namespace gpubinder
