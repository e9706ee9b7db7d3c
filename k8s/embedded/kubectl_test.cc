// The real kubectl against the HTTP front. Skipped, with a message, where
// there is no kubectl.

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/testing_calls.h"

namespace gpubinder::embedded {
namespace {

class KubectlTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v kubectl >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "kubectl is not on the PATH";
    }
    ASSERT_TRUE(server_.ListenHttp(0).ok());
    server_.StartStandIns(absl::Milliseconds(20));
  }

  // Standard output and error together; `status_` is the exit code.
  std::string Kubectl(const std::string& arguments) {
    const std::string home = testing::TempDir();
    const std::string command =
        absl::StrCat("HOME=", home,
                     " KUBECONFIG=/dev/null timeout 60 kubectl --server "
                     "http://127.0.0.1:",
                     server_.port(), " ", arguments, " 2>&1");
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    std::array<char, 4096> buffer;
    while (pipe != nullptr) {
      const size_t got = fread(buffer.data(), 1, buffer.size(), pipe);
      if (got == 0) break;
      out.append(buffer.data(), got);
    }
    status_ = pipe == nullptr ? -1 : pclose(pipe);
    return out;
  }
  std::string File(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(testing::TempDir(), "/", name);
    std::ofstream(path) << text;
    return path;
  }
  void ExpectSays(const std::string& arguments, const std::string& part) {
    const std::string out = Kubectl(arguments);
    EXPECT_EQ(status_, 0) << arguments << ": " << out;
    EXPECT_TRUE(absl::StrContains(out, part))
        << arguments << ": " << part << " is not in\n"
        << out;
  }

  EmbeddedServer server_{EmbeddedOptions{}};
  int status_ = 0;
};

constexpr char kClaim[] =
    "apiVersion: gpu.cozystack.io/v1alpha1\nkind: GPUClaim\n"
    "metadata: {name: c}\nspec: {className: h100, count: 2}\n";

TEST_F(KubectlTest, CreatesReadsPatchesAndDeletes) {
  const std::string file = File("claim.yaml", kClaim);
  ExpectSays("create -f " + file, "gpuclaim.gpu.cozystack.io/c created");
  ExpectSays("get gclaim", "NAME   CLASS   COUNT   PHASE     NODE   VM");
  ExpectSays("get gpuclaims -o wide", "c      h100    2");
  ExpectSays("get gpu", "gpuclaim.gpu.cozystack.io/c");
  ExpectSays("get gclaim c -o json", "\"className\": \"h100\"");
  ExpectSays("get gclaim c -o jsonpath={.spec.count}", "2");
  ExpectSays("describe gclaim c", "Class Name:  h100");
  ExpectSays(
      "patch gclaim c --type merge --subresource status -p "
      "'{\"status\":{\"phase\":\"Bound\",\"nodeName\":\"n1\"}}'",
      "patched");
  ExpectSays("get gclaim c --no-headers", "h100   2     Bound   n1");
  ExpectSays("label gclaim c x=y", "labeled");
  ExpectSays("get gclaim -l x=y -o name", "gpuclaim.gpu.cozystack.io/c");
  ExpectSays("explain gclaim.spec", "className");
  ExpectSays("delete gclaim c --dry-run=server", "server dry run");
  ExpectSays("delete gclaim c", "deleted");
  ExpectSays("get gclaim", "No resources found");
}

TEST_F(KubectlTest, ValidatesOnTheServer) {
  const std::string file = File("bad.yaml", absl::StrCat(kClaim, "zzz: 1\n"));
  EXPECT_TRUE(absl::StrContains(Kubectl("create -f " + file),
                                "strict decoding error: unknown field"));
  EXPECT_NE(status_, 0);
  ExpectSays("create --validate=false -f " + file, "created");
}

TEST_F(KubectlTest, AppliesAndChanges) {
  const std::string node = File("node.json", NodeText("n1", 8));
  ExpectSays("apply -f " + node, "node/n1 created");
  ExpectSays("apply -f " + node, "node/n1 unchanged");
  ExpectSays("cordon n1", "node/n1 cordoned");
  ExpectSays("get nodes", "Ready,SchedulingDisabled");
  ExpectSays("uncordon n1", "node/n1 uncordoned");
  ExpectSays("taint node n1 a=b:NoSchedule", "node/n1 tainted");
  ExpectSays("taint node n1 a-", "node/n1 untainted");
  ExpectSays("describe node n1", "nvidia.com/H100");
}

TEST_F(KubectlTest, WatchesAVmStart) {
  const std::string node = File("node.json", NodeText("n1", 8));
  const std::string vm = File("vm.json", MachineText("a", "Always", 2));
  ExpectSays("create -f " + node, "created");
  ExpectSays("create -f " + vm, "created");
  ExpectSays("wait vmi/a --for=jsonpath={.status.phase}=Running --timeout=30s",
             "condition met");
  ExpectSays("get vm,vmi,pods", "Running   n1");
  ExpectSays("describe pods", "Successfully assigned default/virt-launcher-a-");
  // -w prints a first table and a line for each event, until its time is up.
  ExpectSays("get pods -w --request-timeout=2s", "virt-launcher-a-");
  ExpectSays("delete vm a", "deleted");
  ExpectSays("get vmi,pods", "No resources found");
  ExpectSays("events", "Scheduled");
}

}  // namespace
}  // namespace gpubinder::embedded
