#include "tools/stories/burst.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "k8s/embedded/json_value.h"
#include "k8s/kinds.h"
#include "nlohmann/json.hpp"
#include "proto/check.h"
#include "tools/stories/objects.h"

namespace gpubinder {
using embedded::At;
using embedded::DumpJson;
using embedded::Json;
using embedded::ParseJson;
using embedded::TextAt;

namespace {

constexpr int kNodes = 8;
constexpr int kOrderClasses = 10, kHeldClasses = 8;
constexpr int kTemplatesOfNode = 5;
// Those templates, and the two claims of the node's mixed machine.
constexpr int kUnitsOfNode = kTemplatesOfNode + 2;
constexpr char kOn[] = "nvidia.com/ON";
constexpr char kGate[] = "gpu.cozystack.io/claims";

std::string NodeName(int node) { return absl::StrCat("n", node); }
std::string OnClass(int node) { return absl::StrCat("on-n", node); }
std::string TieClass(int number) { return absl::StrFormat("tie-%02d", number); }
std::string TieResource(int number) {
  return absl::StrFormat("nvidia.com/TIE%02d", number);
}
std::string TieClaim(int number, int node) {
  return absl::StrFormat(
      "%s-%02d-%d", number < kOrderClasses ? "order" : "held", number, node);
}
std::string MixedClaim(int node) { return absl::StrCat("mixed-", node); }

// The devices of a machine, an entry each.
using Devices = std::vector<std::pair<std::string, int>>;

Json Machine(const std::string& name, const std::string& claims,
             const Devices& devices) {
  Json machine = MachineObject(name, "Always", claims);
  Json gpus = Json::array();
  for (size_t entry = 0; entry < devices.size(); ++entry) {
    for (int unit = 0; unit < devices[entry].second; ++unit) {
      gpus.push_back({{"name", absl::StrCat("gpuclaim-", entry, "-", unit)},
                      {"deviceName", devices[entry].first}});
    }
  }
  machine["spec"]["template"]["spec"]["domain"]["devices"]["gpus"] = gpus;
  return machine;
}

class Maker {
 public:
  explicit Maker(ApiClient& client) : client_(client) {}

  void Make(Kind kind, const Json& object) {
    ResourcePath path = ResourcePathOf(kind);
    if (PlaceOf(kind).namespaced) path.name_space = kTenant;
    const auto made = client_.Create(path, object.dump(), absl::Seconds(10));
    BINDER_CHECK(made.ok());
  }
  void MakeMachine(const std::string& name, const std::string& claims,
                   const Devices& devices) {
    Make(Kind::kVirtualMachine, Machine(name, claims, devices));
  }

 private:
  ApiClient& client_;
};

void MakeNodes(Maker& maker) {
  for (int node = 1; node <= kNodes; ++node) {
    std::map<std::string, int64_t> units = {{kOn, kUnitsOfNode}};
    for (int i = 0; i < kOrderClasses + kHeldClasses; ++i) {
      units[TieResource(i)] = 1;
    }
    maker.Make(Kind::kNode, NodeObject(NodeName(node), units));
    Json on = ClassObject(OnClass(node), kOn);
    on["spec"]["nodeSelector"]["kubernetes.io/hostname"] = NodeName(node);
    maker.Make(Kind::kGpuClass, on);
  }
  for (int i = 0; i < kOrderClasses + kHeldClasses; ++i) {
    maker.Make(Kind::kGpuClass, ClassObject(TieClass(i), TieResource(i)));
  }
}

}  // namespace

void CreateBurst(ApiClient& client) {
  Maker maker(client);
  maker.Make(Kind::kNamespace, NamespaceObject("cozy-system"));
  maker.Make(Kind::kNamespace, NamespaceObject(kTenant));
  MakeNodes(maker);
  for (int i = 0; i < kOrderClasses + kHeldClasses; ++i) {
    for (int node = 1; node <= kNodes; ++node) {
      maker.Make(Kind::kGpuClaim,
                 ClaimObject(TieClaim(i, node), TieClass(i), 1));
      if (i < kOrderClasses) continue;
      maker.MakeMachine(absl::StrCat("vm-", TieClaim(i, node)),
                        Held(TieClaim(i, node)), {{TieResource(i), 1}});
    }
  }
  for (int node = 1; node <= kNodes; ++node) {
    const std::string name = OnClass(node);
    for (int i = 0; i < kTemplatesOfNode; ++i) {
      maker.MakeMachine(absl::StrCat("vm-own-", node, "-", i),
                        FromTemplate(name, 1), {{kOn, 1}});
    }
    maker.Make(Kind::kGpuClaim, ClaimObject(MixedClaim(node), name, 1));
    Json both = Json::parse(Held(MixedClaim(node)));
    both.push_back(Json::parse(FromTemplate(name, 1))[0]);
    maker.MakeMachine(absl::StrCat("vm-mixed-", node), both.dump(),
                      {{kOn, 1}, {kOn, 1}});
  }
  for (size_t i = 0; i < kBurstWaiting; ++i) {
    maker.MakeMachine(absl::StrCat("vm-wait-", i),
                      FromTemplate(OnClass(1), kUnitsOfNode + 1),
                      {{kOn, kUnitsOfNode + 1}});
  }
}

absl::StatusOr<std::string> GateLaunchers(const embedded::AdmissionCall& call) {
  const absl::StatusOr<Json> review = ParseJson(call.review);
  if (!review.ok()) return review.status();
  Json response = {{"uid", At(*review, {"request", "uid"})}, {"allowed", true}};
  if (call.path == "/mutate-pod" &&
      At(*review, {"request", "object", "spec", "schedulingGates"}).empty()) {
    const Json patch =
        Json::array({{{"op", "add"},
                      {"path", "/spec/schedulingGates"},
                      {"value", Json::array({{{"name", kGate}}})}}});
    response["patch"] = absl::Base64Escape(patch.dump());
    response["patchType"] = "JSONPatch";
  }
  return DumpJson({{"apiVersion", "admission.k8s.io/v1"},
                   {"kind", "AdmissionReview"},
                   {"response", std::move(response)}});
}

std::map<std::string, std::string> PlacementsOf(
    const std::vector<Json>& claims) {
  std::map<std::string, std::string> nodes;
  for (const Json& claim : claims) {
    if (TextAt(claim, {"status", "phase"}) != "Bound") continue;
    std::string name = TextAt(claim, {"metadata", "name"});
    const Json& owners = At(claim, {"metadata", "ownerReferences"});
    if (!owners.empty()) name.resize(name.rfind('-'));
    nodes[name] = TextAt(claim, {"status", "nodeName"});
  }
  return nodes;
}

std::map<std::string, std::string> BurstPlacements() {
  std::map<std::string, std::string> nodes;
  for (int node = 1; node <= kNodes; ++node) {
    for (int i = 0; i < kOrderClasses + kHeldClasses; ++i) {
      nodes[TieClaim(i, node)] = NodeName(node);
    }
    for (int i = 0; i < kTemplatesOfNode; ++i) {
      nodes[absl::StrCat("vm-own-", node, "-", i, "-0")] = NodeName(node);
    }
    nodes[MixedClaim(node)] = NodeName(node);
    nodes[absl::StrCat("vm-mixed-", node, "-1")] = NodeName(node);
  }
  return nodes;
}

}  // namespace gpubinder
