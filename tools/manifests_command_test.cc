// `gpubinder manifests` against the files that are checked in.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/called_command.h"
#include "tools/config_file.h"
#include "yaml-cpp/yaml.h"

namespace gpubinder {
namespace {

std::string FilesOf(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    std::ifstream file("k8s/manifests/" + name);
    EXPECT_TRUE(file) << name;
    std::ostringstream text;
    text << file.rdbuf();
    absl::StrAppend(&all, "---\n", text.str());
  }
  return all;
}

std::string Printed(std::vector<const char*> args) {
  args.insert(args.begin(), "manifests");
  const Ended ended = Call(args);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.out;
}

TEST(ManifestsTest, PrintsTheFilesThatAreCheckedIn) {
  EXPECT_EQ(
      Printed({}),
      FilesOf({"crds/gpuclass.yaml", "crds/gpuclaim.yaml",
               "crds/gpuclaimset.yaml", "install/rbac.yaml",
               "install/tenant_roles.yaml", "install/ownership_policies.yaml",
               "install/device_policies.yaml", "install/certificates.yaml",
               "install/webhooks.yaml", "install/deployment.yaml"}));
  EXPECT_EQ(Printed({"rbac", "crds"}),
            FilesOf({"crds/gpuclass.yaml", "crds/gpuclaim.yaml",
                     "crds/gpuclaimset.yaml", "install/rbac.yaml",
                     "install/tenant_roles.yaml"}));
}

TEST(ManifestsTest, NamesOfTheConfigurationReachTheRest) {
  const std::string all = Printed(
      {"--binder-namespace=gpus", "--tenant-prefix=customer-",
       "--kubevirt-controller-user=o'brien", "--image=example.org/g:1@x:2"});
  for (const char* name : {"cozy-system", "'tenant-'", "cozy-kubevirt"}) {
    EXPECT_FALSE(absl::StrContains(all, name)) << name;
  }
  for (const char* text :
       {"system:serviceaccount:gpus:gpubinder'", "startsWith('customer-')",
        "request.userInfo.username !=", "'o\\'brien'",
        "image: example.org/g:1@x:2\n", "- gpubinder-webhook.gpus.svc\n"}) {
    EXPECT_TRUE(absl::StrContains(all, text)) << text;
  }
}

TEST(ManifestsTest, TheConfigurationIsWhatTheBinderReads) {
  const std::string deployment =
      Printed({"deployment", "--observe", "--refusal-grace=1m30s",
               "--extra-resource-names=a.b/c,a.b/d", "--max-endings=7"});
  Config config;
  ASSERT_TRUE(
      ReadConfig(
          YAML::LoadAll(deployment)[0]["data"]["config.yaml"].as<std::string>(),
          "c", config)
          .ok());
  Config want;
  want.observe = true;
  want.refusal_grace = absl::Seconds(90);
  want.extra_resource_names = {"a.b/c", "a.b/d"};
  want.max_endings = 7;
  EXPECT_EQ(config, want);
}

TEST(ManifestsTest, SelfSignedAsksNothingOfCertManager) {
  const std::string all = Printed({"--self-signed"});
  EXPECT_FALSE(absl::StrContains(all, "cert-manager"));
  EXPECT_EQ(YAML::LoadAll(all).size() + 4, YAML::LoadAll(Printed({})).size());
}

TEST(ManifestsTest, TheContainerIsStartedWithFlagsThatThereAre) {
  for (const YAML::Node& document : YAML::LoadAll(Printed({"deployment"}))) {
    if (document["kind"].as<std::string>() != "StatefulSet") continue;
    const YAML::Node container =
        document["spec"]["template"]["spec"]["containers"][0];
    const auto args = container["args"].as<std::vector<std::string>>();
    std::vector<const char*> call;
    for (const std::string& arg : args) call.push_back(arg.c_str());
    call.push_back("--help");  // what stands before it is read
    EXPECT_EQ(Call(call).code, 0) << Call(call).err;
    return;
  }
  FAIL() << "no StatefulSet";
}

TEST(ManifestsTest, SaysWhatIsWrong) {
  const Ended part = Call({"manifests", "x"});
  EXPECT_EQ(part.code, 2);
  EXPECT_EQ(part.err,
            "gpubinder manifests: found the part \"x\", want crds, rbac, "
            "policies, webhooks, deployment\n");
  const Ended image = Call({"manifests", "--image=a b"});
  EXPECT_EQ(image.code, 2);
  EXPECT_EQ(image.err,
            "gpubinder manifests: flag --image: found \"a b\", want the name "
            "of an image\n");
}

}  // namespace
}  // namespace gpubinder
