#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/called_command.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

constexpr char kNow[] = "--now=2026-01-31T12:00:00Z";

std::string ReadTestFile(const std::string& name) {
  std::ifstream file("tools/testdata/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Fields whose texts the documentation leaves open: compared only where the
// expectation has them.
bool IsOpen(const std::string& key) {
  return key == "message" || key == "patch" || key == "passes" || key == "uid";
}

// Where `found` differs from `want`; empty: nowhere.
std::string Difference(const Json& want, const Json& found,
                       const std::string& at) {
  if (want.type() != found.type() && !(want.is_number() && found.is_number())) {
    return absl::StrCat(at, ": want ", want.dump(), ", found ", found.dump());
  }
  if (want.is_array()) {
    if (want.size() != found.size()) {
      return absl::StrCat(at, ": want ", want.dump(), ", found ", found.dump());
    }
    for (size_t i = 0; i < want.size(); ++i) {
      std::string text =
          Difference(want[i], found[i], absl::StrCat(at, "[", i, "]"));
      if (!text.empty()) return text;
    }
    return "";
  }
  if (!want.is_object()) {
    return want == found ? ""
                         : absl::StrCat(at, ": want ", want.dump(), ", found ",
                                        found.dump());
  }
  for (const auto& [key, value] : found.items()) {
    if (!want.contains(key) && !IsOpen(key)) {
      return absl::StrCat(at, ".", key, ": not wanted");
    }
  }
  for (const auto& [key, value] : want.items()) {
    if (!found.contains(key)) return absl::StrCat(at, ".", key, ": missing");
    std::string text =
        Difference(value, found[key], absl::StrCat(at, ".", key));
    if (!text.empty()) return text;
  }
  return "";
}

// Only the effects of kinds that the expectation names: what else a pass does
// for its house-keeping has tests of its own.
void KeepNamedEffects(const Json& want, Json& found) {
  std::set<std::string> kinds;
  for (const Json& effect : want["effects"]) kinds.insert(effect["kind"]);
  Json kept = Json::array();
  for (const Json& effect : found["effects"]) {
    if (kinds.contains(effect["kind"])) kept.push_back(effect);
  }
  found["effects"] = kept;
}

class GoldenPlanTest : public testing::TestWithParam<const char*> {};

// The expectations were worked out by hand from the documentation.
TEST_P(GoldenPlanTest, SaysWhatTheDocumentationSays) {
  const std::string name = GetParam();
  const std::string file = absl::StrCat("tools/testdata/", name, ".yaml");
  const Ended ended = Call({"plan", "-f", file.c_str(), "-o", "json", kNow});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "");
  const Json want = Json::parse(ReadTestFile(name + ".json"));
  Json found = Json::parse(ended.out, nullptr, false);
  ASSERT_TRUE(found.is_object()) << ended.out;
  KeepNamedEffects(want, found);
  EXPECT_EQ(Difference(want, found, ""), "");
}

INSTANTIATE_TEST_SUITE_P(Plans, GoldenPlanTest,
                         testing::Values("order", "gated_fits", "gated_waits",
                                         "malformed", "unreadable", "deleted"));

TEST(PlanTest, AnInputThatNeedsNoChangeIsSettledInOnePass) {
  const Ended ended =
      Call({"plan", "-f", "tools/testdata/settled.yaml", "-o", "json", kNow});
  const Json plan = Json::parse(ended.out);
  EXPECT_EQ(plan["passes"], 1);
  EXPECT_EQ(plan["settled"], true);
  EXPECT_EQ(plan["effects"], Json::array());
  EXPECT_EQ(ended.err, "");
}

TEST(PlanTest, TheFormsSayTheSame) {
  const std::vector<const char*> args = {
      "plan", "-f", "tools/testdata/gated_waits.yaml", kNow, "-o"};
  auto with = [&](const char* form) {
    std::vector<const char*> all = args;
    all.push_back(form);
    return Call(all).out;
  };
  const std::string yaml = with("yaml");
  EXPECT_EQ(yaml.substr(0, yaml.find("claims:")),
            absl::StrCat("apiVersion: gpubinder/v1\nkind: Plan\npasses: ",
                         Json::parse(with("json"))["passes"].dump(),
                         "\nsettled: true\n"));
  const std::string table = with("table");
  EXPECT_NE(table.find("a/vm  launcher  -     NoNodeFits\n"), std::string::npos)
      << table;
  for (absl::string_view line : absl::StrSplit(table, '\n')) {
    EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
}

// A default in its place would read as what the claim says.
TEST(PlanTest, WhatAClaimDoesNotSayIsAQuestionMarkInTheTable) {
  const std::string bad =
      Call({"plan", "-f", "tools/testdata/malformed.yaml", kNow}).out;
  EXPECT_NE(bad.find("  a/bad   h100       ?  Pending  -     -\n"),
            std::string::npos)
      << bad;
  const std::string odd =
      Call({"plan", "-f", "tools/testdata/unreadable.yaml", kNow}).out;
  EXPECT_NE(odd.find("  a/odd   ?          2  ?      -     -\n"),
            std::string::npos)
      << odd;
  const std::string none =
      Call({"plan", "-f", "-", kNow},
           "{apiVersion: gpu.cozystack.io/v1alpha1, kind: GPUClaim, "
           "metadata: {name: c, namespace: a}, spec: [h100, 2]}")
          .out;
  EXPECT_NE(none.find("  a/c   ?          ?  Pending  -     -\n"),
            std::string::npos)
      << none;
}

TEST(PlanTest, TheTableNamesAStoppedVmWhoseClaimsCannotBeRead) {
  const std::string table =
      Call({"plan", "-f", "tools/testdata/unreadable.yaml", kNow}).out;
  EXPECT_NE(table.find("  VirtualMachine a/off             spec.template."
                       "metadata.annotations[\"gpu.cozystack.io/claims\"]\n"
                       "      found an object, want a list of 1 to 16 "
                       "entries\n"),
            std::string::npos)
      << table;
}

TEST(PlanTest, ExitCodes) {
  const char* waits = "tools/testdata/gated_waits.yaml";
  const char* fits = "tools/testdata/gated_fits.yaml";
  EXPECT_EQ(Call({"plan", "-f", waits, kNow}).code, 0);
  EXPECT_EQ(Call({"plan", "-f", waits, kNow, "--fail-on-waiting"}).code, 1);
  EXPECT_EQ(Call({"plan", "-f", fits, kNow, "--fail-on-waiting"}).code, 0);
  EXPECT_EQ(Call({"plan", "-f", fits, kNow, "--passes=1"}).code, 1);
  const Ended checked = Call({"plan", "-f", waits, kNow, "--check"});
  EXPECT_EQ(checked.code, 0);
  EXPECT_NE(checked.err.find("judged, no disagreement"), std::string::npos);
  EXPECT_EQ(checked.out, Call({"plan", "-f", waits, kNow}).out);
  EXPECT_EQ(
      Call({"plan", "-f", waits, kNow, "--check", "--fail-on-waiting"}).code,
      1);
  EXPECT_EQ(Call({}).code, 2);
  EXPECT_EQ(Call({"--help"}).code, 0);
  EXPECT_EQ(Call({"plan", "--help"}).code, 0);
}

TEST(PlanTest, ObjectsComeFromStdinAndIntoTheNamespaceThatIsAskedFor) {
  const Ended ended =
      Call({"plan", "-f", "-", "-o", "json", "--namespace", "x", kNow},
           "{apiVersion: gpu.cozystack.io/v1alpha1, kind: GPUClaim, "
           "metadata: {name: c}, spec: {className: none}}");
  const Json plan = Json::parse(ended.out);
  EXPECT_EQ(plan["claims"][0]["namespace"], "x");
  EXPECT_EQ(plan["claims"][0]["reason"], "ClassNotFound");
}

// A VM of KubeVirt's own states: what waits for a VMI is said, not silent.
TEST(PlanTest, VmsThatNobodyStartsHereAreNamed) {
  constexpr char kVm[] =
      "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: %s, "
      "namespace: a}, spec: {runStrategy: %s, template: {metadata: "
      "{annotations: {gpu.cozystack.io/claims: '[{\"claimTemplate\": "
      "{\"className\": \"h100\"}}]'}}}}}\n---\n";
  const Ended ended =
      Call({"plan", "-f", "-", kNow}, absl::StrFormat(kVm, "v1", "Always") +
                                          absl::StrFormat(kVm, "v2", "Halted"));
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err,
            "gpubinder plan: no VMI among the objects, so not started here: "
            "a/v1\n");
}

TEST(PlanTest, TheConfigurationIsHeard) {
  std::vector<const char*> args = {
      "plan",           "-o", "json", kNow, "-f", "tools/testdata/order.yaml",
      "--enabled=false"};
  EXPECT_EQ(Json::parse(Call(args).out)["claims"][0]["phase"], "Pending");
}

struct BadInput {
  std::vector<const char*> args;
  std::string in, want;
};

std::vector<BadInput> BadPlanInputs() {
  return {
      {{"plann"},
       "",
       "gpubinder: unknown command \"plann\", did you mean plan"},
      {{"plan"},
       "",
       "gpubinder plan: no objects: want -f FILE, or -f - for stdin"},
      {{"plan", "-f", "-", "-f", "-"},
       "",
       "gpubinder plan: stdin: is named twice"},
      {{"plan", "-f", "tools/testdata", "--nowe=x"},
       "",
       "gpubinder plan: unknown flag --nowe, did you mean --now"},
      {{"plan", "-f", "-", "--now=today"},
       "",
       "gpubinder plan: flag --now: found \"today\", want a time as in "
       "2026-01-31T12:00:00Z"},
      {{"plan", "-f", "-", "-o", "xml"},
       "",
       "gpubinder plan: flag -o: found \"xml\", want table|json|yaml"},
      {{"plan", "-f", "-", "--passes=0"},
       "",
       "gpubinder plan: flag --passes: found \"0\", want a whole number from "
       "1 to 100"},
      {{"plan", "-f", "-"},
       "kind: Pod\n",
       "gpubinder plan: stdin, document 1: apiVersion: found nothing, want a "
       "text"},
      {{"plan", "-f", "-"},
       "{apiVersion: gpu.cozystack.io/v1alpha1, kind: GPUClam}",
       "gpubinder plan: stdin, document 1: kind: found \"GPUClam\", want "
       "GPUClass, GPUClaim or GPUClaimSet of gpu.cozystack.io"},
      {{"plan", "-f", "-"},
       "a: [\n",
       "gpubinder plan: stdin: document 1, line 2, column 1: end of sequence "
       "flow not found"},
      {{"plan", "-f", "tools/testdata/order.yaml", "-f",
        "tools/testdata/order.yaml"},
       "",
       "gpubinder plan: tools/testdata/order.yaml, document 1: GPUClass h100 "
       "stands twice, first in tools/testdata/order.yaml, document 1"},
  };
}

std::vector<BadInput> BadOtherInputs() {
  return {
      {{"audit"},
       "",
       "gpubinder audit: found 0 operands, want one JOURNAL_DIR"},
      {{"admit"},
       "",
       "gpubinder admit: no AdmissionReview: want -f FILE, or -f - for stdin"},
      {{"sandbox", "--once", "x.yaml"},
       "",
       "gpubinder sandbox: found the operand 'x.yaml', want flags only; files "
       "go behind -f"},
      {{"explain", "a"},
       "",
       "gpubinder explain: found \"a\", want one of the form NAMESPACE/NAME"},
      {{"confirm", "--user"},
       "",
       "gpubinder confirm: flag --user needs a value: NAME"},
      {{"admit", "-f", "-"},
       "{}",
       "gpubinder admit: no AdmissionReview among the objects"},
      {{"plan", "-f", "-", "--journal-max-bytes=20"},
       "",
       "gpubinder plan: flag --journalMaxBytes: found 20 bytes, want at least "
       "64MiB"},
      {{"explain", "--address", "127.0.0.1", "a/b"},
       "",
       "gpubinder explain: flag --address: found \"127.0.0.1\", want HOST:PORT "
       "with a port from 1 to 65535"},
      {{"sandbox", "--grpc-address", "10.0.0.1:1"},
       "",
       "gpubinder sandbox: --grpc-address: found \"10.0.0.1:1\", want a "
       "loopback address with a port: 127.0.0.1:PORT, [::1]:PORT or "
       "localhost:PORT"},
  };
}

TEST(ConfirmTest, WhereNobodyAnswersNothingIsConfirmed) {
  const Ended ended = Call({"confirm", "--address", "127.0.0.1:1", "node-a"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(absl::StartsWith(
      ended.err,
      "gpubinder confirm: confirmation by the binder at 127.0.0.1:1: "))
      << ended.err;
  EXPECT_NE(ended.err.find("; --address has to be what"), std::string::npos);
}

TEST(ErrorTest, EachIsOneClearLineAndExitCode2) {
  std::vector<BadInput> all = BadPlanInputs();
  for (BadInput& other : BadOtherInputs()) all.push_back(std::move(other));
  for (const BadInput& bad : all) {
    const Ended ended = Call(bad.args, bad.in);
    EXPECT_EQ(ended.code, 2) << bad.want;
    EXPECT_EQ(ended.err, bad.want + "\n");
    EXPECT_EQ(ended.out, "");
  }
}

// Whoever asks may have to wait for it, or to look for it elsewhere.
TEST(ErrorTest, AFileThatIsNotThereIsExitCode3OfEachCommand) {
  for (const std::vector<const char*>& args :
       std::vector<std::vector<const char*>>{
           {"plan", "-f", "absent"},
           {"plan", "-f", "-", "--config=absent"},
           {"admit", "-f", "absent"},
           {"sandbox", "-f", "absent"},
           {"run", "--journal=x", "--config=absent"}}) {
    const Ended ended = Call(args);
    EXPECT_EQ(ended.code, 3);
    EXPECT_EQ(ended.err,
              absl::StrCat("gpubinder ", args[0], ": absent: no such file\n"));
  }
}

TEST(ManifestsTest, PrintsTheThreeKinds) {
  const Ended ended = Call({"manifests"});
  EXPECT_EQ(ended.code, 0);
  for (const char* kind : {"gpuclasses", "gpuclaims", "gpuclaimsets"}) {
    EXPECT_NE(ended.out.find(absl::StrCat("name: ", kind, ".gpu.cozystack.io")),
              std::string::npos);
  }
}

// W5: one gpus entry per unit; W4: the held claim is attached.
TEST(AdmitTest, AnswersAReviewWithThePatchAndTheAttachment) {
  const std::string review = R"({
    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    "request": {"uid": "r1", "operation": "CREATE", "namespace": "a",
      "name": "vm",
      "kind": {"group": "kubevirt.io", "version": "v1",
               "kind": "VirtualMachineInstance"},
      "resource": {"group": "kubevirt.io", "version": "v1",
                   "resource": "virtualmachineinstances"},
      "userInfo": {"username": "u"},
      "object": {"apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "vm", "namespace": "a", "annotations": {
          "gpu.cozystack.io/claims": "[{\"claimName\": \"c1\"}]"}},
        "spec": {"domain": {"devices": {}}}}}})";
  const Ended ended = Call({"admit", "-f", "-", "-f",
                            "tools/testdata/order.yaml", "-o", "json", kNow},
                           review);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Json answer = Json::parse(ended.out, nullptr, false);
  ASSERT_TRUE(answer.is_object()) << ended.out << ended.err;
  EXPECT_EQ(answer["response"]["uid"], "r1");
  EXPECT_EQ(answer["response"]["allowed"], true);
  EXPECT_TRUE(answer["response"].contains("patch"));
  ASSERT_EQ(answer["effects"].size(), 1u);
  EXPECT_EQ(answer["effects"][0]["kind"], "AttachClaim");
  EXPECT_EQ(answer["effects"][0]["target"]["name"], "c1");
  const Ended refused = Call({"admit", "-f", "-", "-o", "json", kNow}, review);
  EXPECT_EQ(refused.code, 0);
  EXPECT_EQ(Json::parse(refused.out)["response"]["allowed"], false);
}

}  // namespace
}  // namespace gpubinder
