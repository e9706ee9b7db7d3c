// Rule W1: what the annotation names, and what is said when it is not legal.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/decision.pb.h"
#include "reconciler/model/claim_set.h"
#include "reconciler/model/reason.h"
#include "webhook/review.h"
#include "webhook/sample_cluster.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json Claims(const char* text) { return Json::parse(text); }

void Entitle(const std::string& name_space, const char* value,
             Snapshot& snapshot) {
  Put(Kind::kNamespace,
      {{"metadata",
        {{"name", name_space},
         {"uid", "uid-" + name_space},
         {"labels", {{"gpu.cozystack.io/vgpu", value}}}}}},
      snapshot);
}

struct BadEntry {
  const char* what;
  const char* claims;
  int code;
  const char* reason;
  const char* message;  // a part of it
};

// A cluster with one object for each fault.
Snapshot FaultyCluster() {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClass,
      {{"metadata",
        {{"name", "dying"},
         {"uid", "uid-dying"},
         {"deletionTimestamp", "2026-12-01T11:00:00Z"}}},
       {"spec", {{"resourceName", "x/dying"}}}},
      snapshot);
  Put(Kind::kGpuClass,
      {{"metadata", {{"name", "odd"}, {"uid", "uid-odd"}}},
       {"spec", {{"resourceName", "x/odd"}, {"maxCount", "many"}}}},
      snapshot);
  Put(Kind::kGpuClaim, ClaimJson("data", "h100", 1), snapshot);
  Put(Kind::kGpuClaim, ClaimJson("orphan", "h200", 1), snapshot);
  Put(Kind::kGpuClaim, ClaimJson("huge", "h100", 65), snapshot);
  Json dying = ClaimJson("leaving", "h100", 1);
  dying["metadata"]["deletionTimestamp"] = "2026-12-01T11:00:00Z";
  Put(Kind::kGpuClaim, dying, snapshot);
  Json of_template = ClaimJson("b2-0-12345678", "h100", 1);
  of_template["metadata"]["labels"] = {
      {"gpu.cozystack.io/template-claim", "b2"}};
  of_template["metadata"]["ownerReferences"] = Json::parse(
      R"([{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
           "name": "b2", "uid": "b2uid"}])");
  Put(Kind::kGpuClaim, of_template, snapshot);
  Json elsewhere = ClaimJson("elsewhere", "h100", 1);
  elsewhere["metadata"]["namespace"] = "tenant-other";
  Put(Kind::kGpuClaim, elsewhere, snapshot);
  return snapshot;
}

const std::vector<BadEntry>& BadEntries() {
  static const std::vector<BadEntry> kCases = {
      {"no list", R"({"claimName": "data"})", 422, "InvalidClaims",
       "annotation gpu.cozystack.io/claims: found an object"},
      {"empty", "[]", 422, "InvalidClaims", "empty list"},
      {"both", R"([{"claimName": "data"},
            {"claimName": "a", "claimTemplate": {"className": "h100"}}])",
       422, "InvalidClaims", "entry 1: "},
      {"unknown field", R"([{"claim": "data"}])", 422, "InvalidClaims",
       "entry 0: unknown field \"claim\""},
      {"twice", R"([{"claimName": "data"}, {"claimName": "data"}])", 422,
       "InvalidClaims", "entry 1: claim \"data\" is entry 0 too"},
      {"count 0", R"([{"claimTemplate": {"className": "h100", "count": 0}}])",
       422, "InvalidClaims", "entry 0: claimTemplate.count"},
      {"no such class", R"([{"claimName": "data"},
                            {"claimTemplate": {"className": "h200"}}])",
       422, "ClassNotFound", "entry 1: there is no GPUClass \"h200\""},
      {"class being deleted", R"([{"claimTemplate": {"className": "dying"}}])",
       422, "ClassBeingDeleted", "entry 0: GPUClass \"dying\""},
      {"malformed class", R"([{"claimTemplate": {"className": "odd"}}])", 422,
       "MalformedObject", "entry 0: GPUClass \"odd\" is malformed: spec.maxC"},
      {"above maxCount",
       R"([{"claimTemplate": {"className": "h100", "count": 5}}])", 422,
       "CountAboveMaximum",
       "entry 0: found count 5, GPUClass \"h100\" allows at most 4"},
      {"not entitled", R"([{"claimTemplate": {"className": "l40s"}}])", 403,
       "NotEntitled", "entry 0: GPUClass \"l40s\" is of type VGPU"},
      {"no such claim", R"([{"claimName": "nowhere"}])", 422, "ClaimNotFound",
       "entry 0: there is no GPUClaim \"nowhere\" in namespace "
       "\"tenant-acme\""},
      {"another namespace's claim", R"([{"claimName": "elsewhere"}])", 422,
       "ClaimNotFound", "entry 0"},
      {"claim being deleted", R"([{"claimName": "leaving"}])", 422,
       "ClaimBeingDeleted", "entry 0: GPUClaim \"leaving\""},
      {"another VMI's template claim", R"([{"claimName": "b2-0-12345678"}])",
       422, "ClaimAttachedElsewhere", "entry 0: GPUClaim \"b2-0-12345678\""},
      {"malformed claim", R"([{"claimName": "huge"}])", 422, "MalformedObject",
       "entry 0: GPUClaim \"huge\" is malformed: spec.count"},
      {"claim without class", R"([{"claimName": "orphan"}])", 422,
       "ClassNotFound",
       "entry 0: there is no GPUClass \"h200\", the class of GPUClaim \"orph"},
  };
  return kCases;
}

TEST(ClaimEntries, AreRefusedByName) {
  const Snapshot snapshot = FaultyCluster();
  for (const BadEntry& bad : BadEntries()) {
    const TakenAnswer answer =
        AnswerTo(VmiReview(Claims(bad.claims)), snapshot);
    EXPECT_FALSE(answer.allowed) << bad.what;
    EXPECT_EQ(answer.code, bad.code) << bad.what;
    EXPECT_EQ(answer.reason, bad.reason) << bad.what;
    EXPECT_THAT(answer.message, HasSubstr(bad.message)) << bad.what;
    EXPECT_TRUE(answer.patch.empty()) << bad.what;
  }
}

// inv:B2
TEST(ClaimEntries, ThePassWouldSayTheSame) {
  for (const BadEntry& bad : BadEntries()) {
    Snapshot snapshot = FaultyCluster();
    Json vmi = VmiReview(Claims(bad.claims))["request"]["object"];
    vmi["metadata"]["uid"] = "uid-a1";
    vmi["status"]["activePods"] = {{"uid-pod", ""}};
    Json pod = PodReview(Claims(bad.claims))["request"]["object"];
    pod["metadata"]["name"] = "virt-launcher-a1-x";
    pod["metadata"]["uid"] = "uid-pod";
    pod["spec"]["schedulingGates"] =
        Json::array({{{"name", "gpu.cozystack.io/claims"}}});
    Put(Kind::kPod, pod, snapshot);
    Put(Kind::kVirtualMachineInstance, vmi, snapshot);
    std::vector<std::string> reasons;
    RefreshIndex(snapshot);
    for (const Slot slot : SlotsInOrder(snapshot.index)) {
      const ClaimSet& set = snapshot.index.sets[slot].set;
      if (set.name != "a1") continue;
      for (const auto* problems :
           {&set.problems, &set.start_problems, &set.order_problems}) {
        for (const v1::ReasonDetail& problem : *problems) {
          reasons.emplace_back(ReasonName(problem.reason()));
        }
      }
    }
    EXPECT_THAT(reasons, testing::ElementsAre(bad.reason)) << bad.what;
  }
}

TEST(ClaimEntries, AllFaultsAreSaidInTheOrderOfTheList) {
  const TakenAnswer answer =
      AnswerTo(VmiReview(Claims(
                   R"([{"claimTemplate": {"className": "l40s", "count": 9}},
              {"claimName": "nowhere"}])")),
               SampleCluster());
  EXPECT_EQ(answer.reason, "ClaimNotFound") << "before CountAboveMaximum";
  EXPECT_EQ(answer.code, 422);
  EXPECT_THAT(answer.message, HasSubstr("CountAboveMaximum: annotation "
                                        "gpu.cozystack.io/claims entry 0"));
  EXPECT_THAT(answer.message, HasSubstr("NotEntitled: annotation"));
  EXPECT_THAT(answer.message, HasSubstr("ClaimNotFound: annotation "
                                        "gpu.cozystack.io/claims entry 1"));
}

TEST(ClaimEntries, MessagesAreBounded) {
  Json claims = Json::array();
  for (int i = 0; i < 16; ++i) {
    claims.push_back({{"claimName", std::string(1000, 'a' + i)}});
  }
  const TakenAnswer answer = AnswerTo(VmiReview(claims), SampleCluster());
  EXPECT_EQ(answer.reason, "ClaimNotFound");
  EXPECT_LE(answer.message.size(), 1024u);
  EXPECT_THAT(answer.message, testing::EndsWith("..."));
}

TEST(ClaimEntries, TheNearestAncestorEntitles) {
  const Json review =
      VmiReview(Claims(R"([{"claimTemplate": {"className": "l40s"}}])"));
  Snapshot inherited = SampleCluster();
  Entitle("tenant-root", "true", inherited);
  EXPECT_TRUE(AnswerTo(review, inherited).allowed);
  Entitle(kTenant, "false", inherited);
  EXPECT_EQ(AnswerTo(review, inherited).reason, "NotEntitled");
}

TEST(ClaimEntries, HeldOnesAreNotCheckedForWhatStopsOrders) {
  Snapshot snapshot = SampleCluster();
  Put(Kind::kGpuClaim, ClaimJson("booked", "l40s", 9), snapshot);
  EXPECT_TRUE(
      AnswerTo(VmiReview(Claims(R"([{"claimName": "booked"}])")), snapshot)
          .allowed);
}

}  // namespace
}  // namespace gpubinder
