// `gpubinder sandbox` as a process, on the demo's manifests: kubectl looks at
// it, explain answers, an interrupt ends it.

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/stories/child_process.h"

namespace gpubinder {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr absl::Duration kStartLimit = absl::Minutes(2);

class SandboxProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_ = std::make_unique<ChildProcess>(
        ChildOptions{{GpubinderPath(), "sandbox", "-f", "tools/demo",
                      "--journal", journal()},
                     {}});
    ASSERT_TRUE(sandbox_->AwaitLine("running until interrupted", kStartLimit)
                    .has_value())
        << sandbox_->output();
    const std::string server =
        sandbox_->RestOfLine("kubectl --server ", kStartLimit);
    server_ = server.substr(0, server.find(' '));
    const std::string explain =
        sandbox_->RestOfLine("gpubinder explain --address ", kStartLimit);
    address_ = explain.substr(0, explain.find(' '));
  }

  std::string journal() const { return folder_.path() + "/journal"; }
  ChildEnd Kubectl(const std::string& arguments) {
    return RunChild(
        {{"/bin/sh", "-c",
          absl::StrCat("exec timeout 60 kubectl --server ", server_, " ",
                       arguments)},
         {absl::StrCat("HOME=", folder_.path()), "KUBECONFIG=/dev/null"}});
  }
  ChildEnd Explain(const std::string& name) {
    return RunChild(
        {{GpubinderPath(), "explain", "--address", address_, name}, {}});
  }
  void InterruptAndCheckJournal() {
    sandbox_->Signal(SIGINT);
    const ChildEnd end = sandbox_->AwaitEnd(absl::Seconds(30));
    EXPECT_EQ(end.code, 0) << end.output;
    EXPECT_THAT(end.output, EndsWith(absl::StrCat("\nrun the passes again:\n  ",
                                                  GpubinderPath(), " replay ",
                                                  journal(), "\n")));
    const ChildEnd replay =
        RunChild({{GpubinderPath(), "replay", journal()}, {}});
    EXPECT_EQ(replay.code, 0) << replay.output;
    EXPECT_THAT(replay.output, HasSubstr("all equal"));
  }

  TestFolder folder_;
  std::unique_ptr<ChildProcess> sandbox_;
  std::string server_, address_;
};

TEST_F(SandboxProcessTest, ExplainAnswersAndAnInterruptEndsIt) {
  const ChildEnd web = Explain("tenant-demo/web");
  EXPECT_EQ(web.code, 0) << web.output;
  const ChildEnd gated = Explain("tenant-demo/gated");
  EXPECT_EQ(gated.code, 1) << gated.output;
  EXPECT_THAT(gated.output, HasSubstr("ForeignGate"));
  EXPECT_THAT(gated.output, HasSubstr("example.org/hold"));
  InterruptAndCheckJournal();
}

TEST_F(SandboxProcessTest, KubectlShowsMachinesClaimsAndTheWarning) {
  if (RunChild({{"/bin/sh", "-c", "command -v kubectl"}, {}}).code != 0) {
    GTEST_SKIP() << "kubectl is not on the PATH";
  }
  const ChildEnd all = Kubectl("get vm,vmi,pods,gpuclaims,gpuclaimsets -A");
  EXPECT_EQ(all.code, 0) << all.output;
  EXPECT_THAT(
      all.output,
      AllOf(ContainsRegex("virtualmachine.kubevirt.io/web +.*Running"),
            ContainsRegex("virtualmachineinstance.kubevirt.io/web "),
            ContainsRegex("pod/virt-launcher-web-[a-z0-9]+ "),
            ContainsRegex("gpuclaim.gpu.cozystack.io/web-gpu .*Bound"),
            ContainsRegex("gpuclaimset.gpu.cozystack.io/gated .*ForeignGate")));
  const ChildEnd vmi = Kubectl("describe vmi gated -n tenant-demo");
  EXPECT_EQ(vmi.code, 0) << vmi.output;
  EXPECT_THAT(vmi.output, ContainsRegex("Warning +ForeignGate"));
  InterruptAndCheckJournal();
}

// Its temporary files go where the test sees them.
class SandboxStartTest : public testing::Test {
 protected:
  ChildOptions Sandbox(std::vector<std::string> more) {
    std::vector<std::string> arguments = {GpubinderPath(), "sandbox"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {arguments, {absl::StrCat("TMPDIR=", folder_.path())}};
  }
  bool LeftSomething() const {
    return !std::filesystem::is_empty(folder_.path());
  }

  TestFolder folder_;
};

// Cut off while the cluster settles, not after all files.
TEST_F(SandboxStartTest, AnInterruptIsHeardWhileFilesAreApplied) {
  for (const std::string mode : {"--once=false", "--once"}) {
    ChildProcess sandbox(Sandbox({"-f", "tools/demo", mode}));
    ASSERT_TRUE(
        sandbox.AwaitLine("applying tools/demo/1-cluster.yaml", kStartLimit)
            .has_value())
        << sandbox.output();
    sandbox.Signal(SIGINT);
    const ChildEnd end = sandbox.AwaitEnd(absl::Seconds(30));
    EXPECT_EQ(end.code, mode == "--once" ? 1 : 0) << end.output;
    EXPECT_THAT(end.output, HasSubstr("\ninterrupted"));
    EXPECT_THAT(end.output, Not(HasSubstr("3-uncordon.yaml\n")));
    const std::string journal =
        sandbox.RestOfLine("gpubinder replay ", absl::Seconds(1));
    EXPECT_EQ(RunChild({{GpubinderPath(), "replay", journal}, {}}).code, 0)
        << end.output;
  }
}

TEST_F(SandboxStartTest, OneThatCannotStartSaysWhyAndLeavesNothing) {
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{.sin_family = AF_INET,
                    .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(place);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&place), size), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&place), &size), 0);
  const std::string port = absl::StrCat(ntohs(place.sin_port));
  const ChildEnd http = RunChild(Sandbox({"--http-port", port}));
  EXPECT_EQ(http.code, 3);
  EXPECT_THAT(http.output, HasSubstr("--http-port: "));
  const ChildEnd grpc =
      RunChild(Sandbox({"--grpc-address", absl::StrCat("127.0.0.1:", port)}));
  EXPECT_EQ(grpc.code, 3);
  EXPECT_THAT(grpc.output, HasSubstr("--grpc-address: "));
  const ChildEnd absent = RunChild(Sandbox({"-f", "absent.yaml"}));
  EXPECT_EQ(absent.code, 3);
  EXPECT_THAT(absent.output, HasSubstr("absent.yaml: no such file"));
  EXPECT_FALSE(LeftSomething());
  close(taken);
}

}  // namespace
}  // namespace gpubinder
