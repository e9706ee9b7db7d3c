// Gated pods in every shape. Codes and texts are what a real API server
// (v1.34.4) answered; ids are those of the fact sheet on Kubernetes.

#include "k8s/embedded/pod_rules.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/embedded/testing_calls.h"

namespace gpubinder::embedded {
namespace {

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kPod[] = "/api/v1/namespaces/default/pods/p";
constexpr char kTerms[] =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".nodeSelectorTerms";
constexpr char kFrozen[] =
    "Pod \\\"p\\\" is invalid: spec: Forbidden: pod updates may not change "
    "fields other than `spec.containers[*].image`";
constexpr char kTermsFixed[] =
    "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
constexpr char kOnlyAdditions[] =
    "only additions are allowed (no mutations or deletions)";

// {"affinity": {"nodeAffinity": {required: {terms}}}} as a member.
std::string Required(const std::string& terms) {
  return absl::StrCat(
      "\"affinity\":{\"nodeAffinity\":{"
      "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
      "\"nodeSelectorTerms\":[",
      terms, "]}}}");
}
const std::string kPin =
    "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
    "\"values\":[\"n1\"]}]";
const std::string kHasA =
    "\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]";
const std::string kHasAB =
    "\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"},"
    "{\"key\":\"b\",\"operator\":\"Exists\"}]";
const std::string kHasBA =
    "\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"},"
    "{\"key\":\"a\",\"operator\":\"Exists\"}]";
const std::string kHasB =
    "\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"}]";
const std::string kUngate = "\"schedulingGates\":null";
const std::string kPreferred =
    "\"affinity\":{\"nodeAffinity\":{"
    "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"
    "\"preference\":{" +
    kHasA + "}}]}}";

std::string Term(const std::string& members) { return "{" + members + "}"; }
std::string Both(const std::string& a, const std::string& b) {
  return a + "," + b;
}

struct Change {
  std::string id;
  std::string spec;   // members of the pod's spec at creation
  std::string patch;  // members of a merge patch of spec
  int code = 200;
  std::string said;
};

std::vector<Change> GateChanges() {
  return {
      {"GP-1 pin and ungate in one write", "",
       Both(Required(Term(kPin)), kUngate)},
      {"SG-1 remove the gate", "", kUngate},
      {"SG-1 another gate", "",
       "\"schedulingGates\":[{\"name\":\"g.example/a\"},{\"name\":"
       "\"g.example/z\"}]",
       422,
       "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but "
       "found new scheduling gate 'g.example/z'"},
      {"GP-3 from no affinity to any", "", Required(Term(kHasA))},
      {"GP-8 from an empty affinity", "\"affinity\":{}", Required(Term(kPin))},
      {"GP-8 from an empty node affinity", "\"affinity\":{\"nodeAffinity\":{}}",
       Required(Term(kPin))},
      {"GP-3 from preferred to required", kPreferred, Required(Term(kPin))},
      {"GP-3 preferred may go", kPreferred, "\"affinity\":null"},
      {"GP-5 matchFields for the one term", Required(Term(kHasA)),
       Required(Term(Both(kHasA, kPin)))},
      {"GP-5 matchFields for every term",
       Required(Both(Term(kHasA), Term(kHasB))),
       Required(Both(Term(Both(kHasA, kPin)), Term(Both(kHasB, kPin))))},
      {"GP-5 an expression behind", Required(Term(kHasA)),
       Required(Term(kHasAB))},
      {"GP-5 an expression in front", Required(Term(kHasA)),
       Required(Term(kHasBA)), 422, kOnlyAdditions},
      {"GP-5 an expression edited", Required(Term(kHasA)),
       Required(Term(kHasB)), 422,
       absl::StrCat(kTerms,
                    "[0]: Invalid value: {\\\"MatchExpressions\\\":[{\\\"Key"
                    "\\\":\\\"b\\\",\\\"Operator\\\":\\\"Exists\\\",\\\"Values"
                    "\\\":null}],\\\"MatchFields\\\":null}: ",
                    kOnlyAdditions)},
      {"GP-5 an expression removed", Required(Term(kHasAB)),
       Required(Term(kHasA)), 422, kOnlyAdditions},
      {"GP-5 the pin's node replaced", Required(Term(kPin)),
       Required(Term("\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"
                     "\"In\",\"values\":[\"n2\"]}]")),
       422, kOnlyAdditions},
      {"GP-4 a term added", Required(Term(kHasA)),
       Required(Both(Term(kHasA), Term(kPin))), 422, kTermsFixed},
      {"GP-4 a term removed", Required(Both(Term(kHasA), Term(kHasB))),
       Required(Term(kHasA)), 422, kTermsFixed},
      {"GP-4 required removed", Required(Term(kHasA)), "\"affinity\":null", 422,
       absl::StrCat(kTerms, ": Invalid value: null: ", kTermsFixed)},
  };
}

std::vector<Change> TermChanges() {
  return {
      {"GP-5 two terms swapped", Required(Both(Term(kHasA), Term(kHasB))),
       Required(Both(Term(kHasB), Term(kHasA))), 422,
       "nodeSelectorTerms[1]: Invalid value"},
      {"GP-6 an empty term gets the pin", Required("{}"), Required(Term(kPin)),
       422, kOnlyAdditions},
      {"GP-6 an empty term stays, the other is pinned",
       Required(Both("{}", Term(kHasA))),
       Required(Both("{}", Term(Both(kHasA, kPin))))},
      {"GP-7 pod anti-affinity", "",
       "\"affinity\":{\"podAntiAffinity\":{"
       "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":"
       "\"kubernetes.io/hostname\"}]}}",
       422, kFrozen},
      {"GP-2 a node selector key added", "\"nodeSelector\":{\"a\":\"b\"}",
       "\"nodeSelector\":{\"c\":\"d\"}"},
      {"GP-2 a node selector value changed", "\"nodeSelector\":{\"a\":\"b\"}",
       "\"nodeSelector\":{\"a\":\"c\"}", 422,
       "spec.nodeSelector: Invalid value: {\\\"a\\\":\\\"c\\\"}: only "
       "additions "
       "to spec.nodeSelector are allowed (no mutations or deletions)"},
      {"GP-2 a node selector key removed", "\"nodeSelector\":{\"a\":\"b\"}",
       "\"nodeSelector\":null", 422, "only additions to spec.nodeSelector"},
      {"GP-9 the scheduler", "", "\"schedulerName\":\"x\"", 422, kFrozen},
      {"GP-9 the priority", "", "\"priority\":7", 422, kFrozen},
      {"matchFields with two values", "",
       Required(Term("\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"
                     "\"In\",\"values\":[\"a\",\"b\"]}]")),
       422,
       "must be only one value when `operator` is 'In' or 'NotIn' for node "
       "field selector"},
      {"matchFields by another key", "",
       Required(Term("\"matchFields\":[{\"key\":\"x\",\"operator\":\"In\","
                     "\"values\":[\"a\"]}]")),
       422, "not a valid field selector key"},
      {"matchFields NotIn", "",
       Required(Term("\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"
                     "\"NotIn\",\"values\":[\"a\"]}]"))},
      {"matchFields Exists", "",
       Required(Term("\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"
                     "\"Exists\"}]")),
       422, "not a valid selector operator"},
      {"no terms at all", "", Required(""), 422,
       "Required value: must have at least one node selector term"},
  };
}

// Of a pod without gates.
std::vector<Change> UngatedChanges() {
  return {
      {"PU-3 affinity is frozen", "", Required(Term(kPin)), 422, kFrozen},
      {"PU-3 so is the node selector", "", "\"nodeSelector\":{\"a\":\"b\"}",
       422, kFrozen},
      {"PU-3 and the node", "", "\"nodeName\":\"n1\"", 422, kFrozen},
      {"SG-1 a gate comes too late", "",
       "\"schedulingGates\":[{\"name\":\"g.example/a\"}]", 422,
       "spec.schedulingGates[0].name: Forbidden: only deletion is allowed"},
      {"PU-1 a deadline", "", "\"activeDeadlineSeconds\":5"},
      {"PU-1 a later deadline", "\"activeDeadlineSeconds\":5",
       "\"activeDeadlineSeconds\":6", 422, "spec.activeDeadlineSeconds"},
      {"PU-2 a toleration added", "\"tolerations\":[{\"key\":\"x\"}]",
       "\"tolerations\":[{\"key\":\"x\"},{\"key\":\"y\"}]"},
      {"PU-2 a toleration removed", "\"tolerations\":[{\"key\":\"x\"}]",
       "\"tolerations\":[{\"key\":\"y\"}]", 422,
       "existing toleration can not be modified except its tolerationSeconds"},
      {"PU-2 Equal is not the same as nothing",
       "\"tolerations\":[{\"key\":\"x\",\"value\":\"v\"}]",
       "\"tolerations\":[{\"key\":\"x\",\"operator\":\"Equal\",\"value\":"
       "\"v\"}]",
       422, "existing toleration can not be modified"},
      {"PU-1 an image", "",
       "\"containers\":[{\"name\":\"c\",\"image\":\"other\"}]"},
      {"PU-3 a container's name", "",
       "\"containers\":[{\"name\":\"d\",\"image\":\"i\"}]", 422, kFrozen},
  };
}

enum class Gate { kNone, kHeld };

void ExpectChange(const Change& change, Gate gate,
                  const TestTransport& transport) {
  SCOPED_TRACE(change.id);
  std::string spec = "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]";
  if (gate == Gate::kHeld) {
    spec += ",\"schedulingGates\":[{\"name\":\"g.example/a\"}]";
  }
  if (!change.spec.empty()) spec += "," + change.spec;
  const TestAnswer made = transport(
      {"POST", kPods,
       absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
                    "\"name\":\"p\"},\"spec\":{",
                    spec, "}}")});
  ASSERT_EQ(made.code, 201) << made.body;
  const TestAnswer answer =
      transport({"PATCH", kPod, absl::StrCat("{\"spec\":{", change.patch, "}}"),
                 "merge"});
  EXPECT_EQ(answer.code, change.code) << answer.body;
  EXPECT_NE(answer.body.find(change.said), std::string::npos)
      << change.said << "\nis not in\n"
      << answer.body;
  const std::string generation =
      absl::StrCat("\"generation\":", answer.code == 200 ? 2 : 1, ",");
  EXPECT_NE(transport({"GET", kPod}).body.find(generation), std::string::npos)
      << "PU-4: " << generation;
}

void ExpectChanges(const std::vector<Change>& changes, Gate gate) {
  for (const Change& change : changes) {
    EmbeddedServer server({});
    ExpectChange(change, gate, InProcess([&](const ApiRequest& request) {
                   return server.Handle(request);
                 }));
  }
}

TEST(PodRules, GatedPodsChangeOnlyAsTheServerAllows) {
  ExpectChanges(GateChanges(), Gate::kHeld);
  ExpectChanges(TermChanges(), Gate::kHeld);
}

TEST(PodRules, UngatedPodsAreFrozen) {
  ExpectChanges(UngatedChanges(), Gate::kNone);
}

// The same against a real API server without a scheduler: GPUBINDER_API_PORT
// is the port of a `kubectl proxy` to it.
TEST(PodRules, HoldOnARealServer) {
  const char* const port = std::getenv("GPUBINDER_API_PORT");
  if (port == nullptr) GTEST_SKIP() << "GPUBINDER_API_PORT is not set";
  const TestTransport transport = OverHttp(std::atoi(port));
  const auto expect = [&](const std::vector<Change>& changes, Gate gate) {
    for (const Change& change : changes) {
      transport({"DELETE", kPod});
      ExpectChange(change, gate, transport);
    }
  };
  expect(GateChanges(), Gate::kHeld);
  expect(TermChanges(), Gate::kHeld);
  expect(UngatedChanges(), Gate::kNone);
  transport({"DELETE", kPod});
}

struct Creation {
  std::string id, spec;
  int code = 201;
  std::string said;
};

TEST(PodRules, CreationIsJudged) {
  const std::string container =
      "\"containers\":[{\"name\":\"c\",\"image\":\"i\"";
  const std::vector<Creation> creations = {
      {"SG-2 node and gate",
       container + "}],\"nodeName\":\"n\",\"schedulingGates\":[{\"name\":"
                   "\"a\"}]",
       422,
       "spec.nodeName: Forbidden: cannot be set until all schedulingGates have "
       "been cleared"},
      {"SG-5 the gate twice",
       container + "}],\"schedulingGates\":[{\"name\":\"a\"},{\"name\":\"a\"}]",
       422, "spec.schedulingGates[1]: Duplicate value: \\\"a\\\""},
      {"SG-3 the server writes the condition",
       container + "}],\"schedulingGates\":[{\"name\":\"a\"}]", 201,
       "\"message\":\"Scheduling is blocked due to non-empty scheduling "
       "gates\","
       "\"reason\":\"SchedulingGated\",\"status\":\"False\",\"type\":"
       "\"PodScheduled\""},
      {"no containers", "", 422, "spec.containers: Required value"},
      {"ER-3 request without limit",
       container + ",\"resources\":{\"requests\":{\"nvidia.com/x\":\"2\"}}}]",
       422,
       "spec.containers[0].resources.limits: Required value: Limit must be set "
       "for non overcommitable resources"},
      {"ER-3 request unlike limit",
       container + ",\"resources\":{\"requests\":{\"nvidia.com/x\":\"2\"},"
                   "\"limits\":{\"nvidia.com/x\":\"1\"}}}]",
       422,
       "spec.containers[0].resources.requests: Invalid value: \\\"2\\\": must "
       "be equal to nvidia.com/x limit of 1"},
      {"ER-3 limit without request",
       container + ",\"resources\":{\"limits\":{\"nvidia.com/x\":\"2\"}}}]",
       201, "\"requests\":{\"nvidia.com/x\":\"2\"}"},
      {"ER-2 half a device",
       container + ",\"resources\":{\"limits\":{\"nvidia.com/x\":\"500m\"}}}]",
       422, "must be an integer"},
  };
  for (const Creation& creation : creations) {
    SCOPED_TRACE(creation.id);
    EmbeddedServer server({});
    const TestTransport transport = InProcess(
        [&](const ApiRequest& request) { return server.Handle(request); });
    const TestAnswer answer = transport(
        {"POST", kPods,
         absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
                      "\"name\":\"p\"},\"spec\":{",
                      creation.spec, "}}")});
    EXPECT_EQ(answer.code, creation.code) << answer.body;
    EXPECT_NE(answer.body.find(creation.said), std::string::npos)
        << answer.body;
  }
}

TEST(PodRules, BindingAGatedPodIsAConflict) {
  EmbeddedServer server({});
  const TestTransport transport = InProcess(
      [&](const ApiRequest& request) { return server.Handle(request); });
  ASSERT_EQ(transport({"POST", kPods, PodText("p", "g.example/a", 1)}).code,
            201);
  const TestAnswer answer =
      transport({"POST", absl::StrCat(kPod, "/binding"),
                 "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{"
                 "\"name\":\"p\"},\"target\":{\"name\":\"n1\"}}"});
  EXPECT_EQ(answer.code, 409);
  EXPECT_NE(answer.body.find("pod p has non-empty .spec.schedulingGates"),
            std::string::npos)
      << answer.body;
}

TEST(PodRules, ANoOpPatchKeepsTheVersion) {  // RV-4
  EmbeddedServer server({});
  const TestTransport transport = InProcess(
      [&](const ApiRequest& request) { return server.Handle(request); });
  ASSERT_EQ(transport({"POST", kPods, PodText("p", "g.example/a", 1)}).code,
            201);
  const uint64_t before = server.revision();
  EXPECT_EQ(transport({"PATCH", kPod,
                       "{\"spec\":{\"schedulingGates\":[{\"name\":"
                       "\"g.example/a\"}]}}",
                       "merge"})
                .code,
            200);
  EXPECT_EQ(server.revision(), before);
}

}  // namespace
}  // namespace gpubinder::embedded
