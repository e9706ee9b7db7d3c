// `gpubinder run` where it cannot run: each time one clear message and an exit
// code that says whose fault it is.

#include <signal.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "journal/journal.h"
#include "tools/stories/child_process.h"
#include "webhook/test_secret.h"
#include "webhook/tls_test_client.h"

namespace gpubinder {
namespace {

using testing::HasSubstr;

class RunProcessTest : public testing::Test {
 protected:
  // With a kubeconfig for a server that is not there.
  std::vector<std::string> Arguments() {
    return {GpubinderPath(),  "run",
            "--journal",      journal(),
            "--kubeconfig",   WriteKubeconfig(folder_.path(), 1),
            "--grpc-address", ""};
  }
  ChildEnd RunWith(std::vector<std::string> more) {
    std::vector<std::string> arguments = Arguments();
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunChild({arguments, {}});
  }
  std::string File(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(folder_.path(), "/", name);
    std::ofstream(path) << text;
    return path;
  }
  std::string journal() const { return folder_.path() + "/journal"; }

  // One line that says all of it.
  void ExpectSays(const ChildEnd& end, int code, const std::string& part) {
    EXPECT_EQ(end.code, code) << end.output;
    const std::vector<std::string> lines =
        absl::StrSplit(end.output, '\n', absl::SkipEmpty());
    EXPECT_EQ(lines.size(), 1u) << end.output;
    EXPECT_THAT(end.output, HasSubstr("gpubinder run: "));
    EXPECT_THAT(end.output, HasSubstr(part));
  }

  TestFolder folder_;
};

TEST_F(RunProcessTest, OutsideAPodItAsksForAKubeconfig) {
  ExpectSays(RunChild({{GpubinderPath(), "run", "--journal", journal()}, {}}),
             3, "kubeconfig");
}

TEST_F(RunProcessTest, ABrokenKubeconfigIsNamed) {
  const std::string broken = File("broken", "clusters: [");
  ExpectSays(RunWith({"--kubeconfig", broken}), 2, broken);
  const std::string missing = folder_.path() + "/not-there";
  ExpectSays(RunWith({"--kubeconfig", missing}), 3, missing);
}

TEST_F(RunProcessTest, ABadConfigurationIsRefusedWithItsField) {
  const std::string config =
      File("config.yaml", "enabled: true\nrejectionTTL: soon\n");
  ExpectSays(RunWith({"--config", config}), 2, "rejectionTTL");
  ExpectSays(RunWith({"--config", folder_.path() + "/not-there"}), 3,
             "not-there");
  ExpectSays(RunWith({"--request-timeout", "20s"}), 2, "requestTimeout");
}

TEST_F(RunProcessTest, AnUnknownFlagIsRefusedWithTheNearest) {
  ExpectSays(RunWith({"--jurnal", "x"}), 2, "--journal");
}

TEST_F(RunProcessTest, WebhooksWithoutCertificatesAreRefused) {
  const ChildEnd end = RunWith({"--webhook-certificates", folder_.path()});
  EXPECT_EQ(end.code, 3);
  EXPECT_THAT(end.output,
              HasSubstr(absl::StrCat("gpubinder run: webhook certificates in ",
                                     folder_.path(), ": tls.crt: No such")));
  ExpectSays(RunWith({"--webhook-drain", "soon"}), 2, "--webhook-drain");
}

TEST_F(RunProcessTest, WebhooksAreServedUntilASecondSignal) {
  TestSecret secret;
  std::vector<std::string> arguments = Arguments();
  for (const std::string& more :
       {std::string("--webhook-certificates"), secret.directory(),
        std::string("--webhook-address"), std::string("127.0.0.1:0"),
        std::string("--webhook-drain"), std::string("10m")}) {
    arguments.push_back(more);
  }
  ChildProcess binder(ChildOptions{arguments, {}});
  int port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(
      binder.RestOfLine("webhooks on 127.0.0.1:0, port ", absl::Minutes(1)),
      &port))
      << binder.output();
  const auto ask = [port](const char* path) {
    const auto client = TlsTestClient::Connect(port);
    if (client == nullptr || !client->Send(GetText(path))) return TestAnswer();
    return client->Read();
  };
  EXPECT_EQ(ask("/readyz").body, "the cluster has not been listed yet\n");
  binder.Signal(SIGTERM);
  while (ask("/readyz").body != "ending\n") {
  }
  EXPECT_EQ(ask("/healthz").code, 200);
  binder.Signal(SIGTERM);
  const ChildEnd end = binder.AwaitEnd(absl::Minutes(1));
  EXPECT_EQ(end.code, 0) << end.output;
}

TEST_F(RunProcessTest, AJournalThatAnotherHasIsNotTouched) {
  const auto held = Journal::Open({.directory = journal(),
                                   .random = [] { return uint64_t{1}; },
                                   .clock = absl::Now});
  ASSERT_TRUE(held.ok()) << held.status();
  ExpectSays(RunWith({}), 3, journal());
}

TEST_F(RunProcessTest, AJournalWithoutAParentFolderIsNamed) {
  const std::string nowhere = folder_.path() + "/no/such/folder";
  ExpectSays(
      RunWith({"--journal", nowhere}), 3,
      absl::StrCat("'", nowhere, "': its parent directory is not there"));
}

TEST_F(RunProcessTest, AJournalBesideTheOneThatIsNamedIsSuggested) {
  ASSERT_TRUE(Journal::Open({.directory = journal(),
                             .random = [] { return uint64_t{1}; },
                             .clock = absl::Now})
                  .ok());
  for (const char* command : {"replay", "audit"}) {
    const ChildEnd above =
        RunChild({{GpubinderPath(), command, folder_.path()}, {}});
    EXPECT_EQ(above.code, 3);
    EXPECT_THAT(above.output, HasSubstr(absl::StrCat("holds no journal, did "
                                                     "you mean ",
                                                     journal(), "\n")));
    const ChildEnd absent =
        RunChild({{GpubinderPath(), command, journal() + "l"}, {}});
    EXPECT_EQ(absent.code, 3);
    EXPECT_THAT(absent.output, HasSubstr("there is no such directory"));
  }
}

}  // namespace
}  // namespace gpubinder
