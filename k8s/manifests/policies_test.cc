// What can be said of policies and webhooks without a server. What their
// expressions do is tools/e2e/policies_test.sh.

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "k8s/manifests/install_manifests.h"
#include "reconciler/model/config.h"
#include "yaml-cpp/yaml.h"

namespace gpubinder {
namespace {

using Named = std::map<std::string, YAML::Node>;

Named Documents(const char* part, absl::string_view kind) {
  Named found;
  for (const YAML::Node& node :
       YAML::LoadAll(InstallManifests({part}, ManifestOptions()))) {
    if (node["kind"].as<std::string>() != kind) continue;
    found.emplace(node["metadata"]["name"].as<std::string>(), node["spec"]);
  }
  return found;
}

// Each expression of a policy, by where it stands.
Named Expressions() {
  Named found;
  for (const auto& [name, spec] :
       Documents("policies", "ValidatingAdmissionPolicy")) {
    for (const char* list : {"matchConditions", "variables", "validations"}) {
      if (!spec[list].IsDefined()) continue;
      int i = 0;
      for (const YAML::Node& item : spec[list]) {
        const std::string place = absl::StrCat(name, ".", list, "[", i++, "].");
        for (const char* field : {"expression", "messageExpression"}) {
          if (item[field].IsDefined()) found[place + field] = item[field];
        }
      }
    }
  }
  return found;
}

// How brackets stand outside quotes; "ok" when each is closed by its own.
std::string Brackets(absl::string_view cel) {
  std::string open;
  bool quoted = false;
  for (const char c : cel) {
    if (c == '\'') quoted = !quoted;
    if (quoted) continue;
    if (absl::StrContains("([{", c)) open += c;
    if (!absl::StrContains(")]}", c)) continue;
    const char want = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open.empty() || open.back() != want) return absl::StrCat("lone ", open);
    open.pop_back();
  }
  if (quoted) return "an open quote";
  return open.empty() ? "ok" : open;
}

TEST(PoliciesTest, EachIsBoundAndDenies) {
  const Named policies = Documents("policies", "ValidatingAdmissionPolicy");
  const Named bindings =
      Documents("policies", "ValidatingAdmissionPolicyBinding");
  EXPECT_EQ(policies.size(), 9);
  EXPECT_EQ(bindings.size(), policies.size());
  for (const auto& [name, spec] : policies) {
    ASSERT_TRUE(bindings.contains(name)) << name;
    const YAML::Node binding = bindings.at(name);
    EXPECT_EQ(binding["policyName"].as<std::string>(), name);
    EXPECT_EQ(binding["validationActions"][0].as<std::string>(), "Deny");
    EXPECT_EQ(spec["failurePolicy"].as<std::string>(), "Fail") << name;
    const bool takes_settings = absl::StrContains(name, "raw-names");
    EXPECT_EQ(spec["paramKind"].IsDefined(), takes_settings) << name;
    ASSERT_EQ(binding["paramRef"].IsDefined(), takes_settings) << name;
    if (!takes_settings) continue;
    EXPECT_EQ(binding["paramRef"]["name"].as<std::string>(), kSettingsName);
    EXPECT_EQ(binding["paramRef"]["namespace"].as<std::string>(),
              Config().name_space);
  }
}

TEST(PoliciesTest, ExpressionsAreWhole) {
  for (const auto& [place, expression] : Expressions()) {
    const std::string cel = expression.as<std::string>();
    EXPECT_EQ(Brackets(cel), "ok") << place << ": " << cel;
  }
}

// Of the keys of ours that an expression names.
TEST(PoliciesTest, ExpressionsNameTheKeysOfTheBinder) {
  for (const auto& [place, expression] : Expressions()) {
    std::string cel = expression.as<std::string>();
    for (const char* key : {kClaimsKey, kGate, kTemplateClaimLabel}) {
      cel = absl::StrReplaceAll(
          cel, {{absl::StrCat(key, "'"), "'"}, {absl::StrCat(key, " "), " "}});
    }
    // What is left is the prefix of them all.
    cel = absl::StrReplaceAll(cel, {{"startsWith('gpu.cozystack.io/')", ""}});
    EXPECT_FALSE(absl::StrContains(cel, "gpu.cozystack.io")) << place << cel;
  }
  for (const char* key : {kClaimFinalizer, kClassFinalizer, kVgpuLabel}) {
    EXPECT_TRUE(absl::StartsWith(key, "gpu.cozystack.io/"));
  }
}

// Only where one of these may write is there a way around: the rest hold for
// charts too, which others install for a tenant.
TEST(PoliciesTest, WhoMayLiftAPolicyIsAskedOfThatPolicy) {
  for (const auto& [name, spec] :
       Documents("policies", "ValidatingAdmissionPolicy")) {
    for (const YAML::Node& variable : spec["variables"]) {
      if (variable["name"].as<std::string>() != "mayLift") continue;
      EXPECT_TRUE(absl::StrContains(variable["expression"].as<std::string>(),
                                    absl::StrCat(".name('", name, "')")))
          << name;
    }
  }
}

TEST(WebhooksTest, AreThoseOfTheAdmissionServer) {
  const std::vector<YAML::Node> all =
      YAML::LoadAll(InstallManifests({"webhooks"}, ManifestOptions()));
  std::map<std::string, std::string> seen;
  for (const YAML::Node& document : all) {
    for (const YAML::Node& hook : document["webhooks"]) {
      const YAML::Node rule = hook["rules"][0];
      seen[hook["clientConfig"]["service"]["path"].as<std::string>()] =
          absl::StrCat(rule["operations"][0].as<std::string>(), " ",
                       rule["resources"][0].as<std::string>(), " ",
                       hook["failurePolicy"].as<std::string>(), " ",
                       hook["sideEffects"].as<std::string>(), " ",
                       hook["reinvocationPolicy"].as<std::string>());
      EXPECT_TRUE(absl::StrContains(
          hook["matchConditions"][0]["expression"].as<std::string>(),
          absl::StrCat("'", kClaimsKey, "' in object.metadata.annotations")));
    }
  }
  EXPECT_EQ(seen,
            (std::map<std::string, std::string>{
                {"/mutate-vmi",
                 "CREATE virtualmachineinstances Fail NoneOnDryRun IfNeeded"},
                {"/mutate-pod", "CREATE pods Fail None IfNeeded"}}));
}

}  // namespace
}  // namespace gpubinder
