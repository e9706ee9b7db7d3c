#include "tools/bench/event_stream.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "journal/corpus_templates.h"
#include "journal/dice.h"
#include "k8s/object_filter.h"
#include "reconciler/model/kind.h"

namespace gpubinder::bench {
namespace {

constexpr int kNodes = 200;
constexpr int kTenants = 40;
constexpr int kSetSizes[] = {1, 2, 4, 8};
constexpr int kHeartbeatEvery = 8;
constexpr int kLossOneIn = 50;
constexpr int kCordonOneIn = 100;

constexpr char kGated[] =
    R"("schedulingGates":[{"name":"gpu.cozystack.io/claims"}],)";
constexpr char kPinned[] = R"("affinity":{"nodeAffinity":{
"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{
"matchExpressions":[{"key":"node-labeller.kubevirt.io/obsolete-host-model",
"operator":"DoesNotExist"}],"matchFields":[{"key":"metadata.name",
"operator":"In","values":["@NODE@"]}]}]}}},)";
constexpr char kWaits[] = R"("phase":"Pending","conditions":[{
"type":"PodScheduled","status":"False","lastProbeTime":null,
"lastTransitionTime":null,"reason":"SchedulingGated",
"message":"Scheduling is blocked due to non-empty scheduling gates"}],)";
constexpr char kRuns[] = R"("phase":"Running","conditions":[{"type":
"kubevirt.io/virtual-machine-unpaused","status":"True","lastProbeTime":
"@CREATED@","lastTransitionTime":"@CREATED@","reason":"NotPaused","message":
"the virtual machine is not paused"},{"type":"Ready","status":"True",
"lastProbeTime":null,"lastTransitionTime":"@NOW@"},{"type":"PodScheduled",
"status":"True","lastProbeTime":null,"lastTransitionTime":"@CREATED@"}],
"hostIP":"@IP@","podIP":"@IP@","podIPs":[{"ip":"@IP@"}],"startTime":"@NOW@",)";
constexpr char kClaimLostStatus[] = R"(,
"boundAt":"@CREATED@","conditions":[{"lastTransitionTime":"@NOW@",
"message":"NodeGone: node @NODE@ is gone","observedGeneration":1,
"reason":"NodeGone","status":"False","type":"Bound"}],"decision":{"epoch":3,
"journal":"@JOURNAL@","sequence":@SEQUENCE@},"nodeName":"@NODE@",
"phase":"Lost","resourceName":"@RESOURCE@")";
// Half of an object, and nothing the binder decides by.
constexpr char kManagedFields[] = R"("managedFields":[{"manager":"@WRITER@",
"operation":"Update","apiVersion":"v1","time":"@NOW@","fieldsType":"FieldsV1",
"fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubevirt.io/domain":{}},
"f:labels":{".":{},"f:app":{},"f:kubevirt.io":{}},"f:ownerReferences":{".":{},
"k:{\"uid\":\"@VM_UID@\"}":{}}},"f:spec":{"f:containers":{
"k:{\"name\":\"compute\"}":{".":{},"f:image":{},"f:resources":{".":{},
"f:limits":{},"f:requests":{}}}}}}},{"manager":"kubelet","operation":"Update",
"apiVersion":"v1","time":"@NOW@","fieldsType":"FieldsV1","fieldsV1":{
"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},
"f:lastTransitionTime":{},"f:status":{},"f:type":{}}}}},
"subresource":"status"}],)";

struct Vm {
  std::string name, space, pod, uid, vmi_uid, pod_uid, node, created, team;
  std::vector<std::string> claims, claim_uids;
  int gpu_class = 0;
  uint64_t cpu = 0, memory = 0;
};

// The states of objects that a life goes through.
struct Shown {
  bool placed = false, running = false, lost = false;
};

class Stream {
 public:
  explicit Stream(uint64_t seed)
      : dice_(seed),
        pod_(Prepared(kLauncherTemplate)),
        vmi_(Prepared(kVmiTemplate)),
        claim_(Prepared(kClaimTemplate)),
        node_(Prepared(kNodeTemplate)) {
    for (int i = 0; i < kNodes; ++i) node_uids_.push_back(dice_.Uid());
  }

  absl::StatusOr<EventStream> Make(int64_t events) && {
    for (int i = 0; i < kNodes; ++i) AddNode(i, v1::ObjectEvent::ADDED);
    while (static_cast<int64_t>(stream_.records.size()) < events) {
      Live(NewVm());
    }
    if (!status_.ok()) return status_;
    return std::move(stream_);
  }

 private:
  // With what an API server adds and what tenants write.
  std::string Prepared(absl::string_view text) {
    return absl::StrReplaceAll(
        Packed(text),
        {{R"("metadata":{)",
          absl::StrCat(R"("metadata":{)", Packed(kManagedFields))},
         {R"("labels":{)", R"("labels":{"team.example.com/name":"@TEAM@",)"
                           R"("billing.example.com/cost-center":"@COST@",)"}});
  }

  std::string Time() const {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now_, absl::UTCTimeZone());
  }

  Vm NewVm() {
    Vm vm;
    const uint64_t number = ++vms_;
    vm.name = absl::StrFormat("web-%05d", number);
    vm.space = absl::StrFormat("tenant-t%02d", dice_.Below(kTenants));
    vm.pod =
        absl::StrFormat("virt-launcher-%s-%05x", vm.name, dice_.Below(1 << 20));
    vm.uid = dice_.Uid();
    vm.vmi_uid = dice_.Uid();
    vm.pod_uid = dice_.Uid();
    vm.node = NodeName(static_cast<int>(dice_.Below(kNodes)));
    vm.created = Time();
    vm.team = absl::StrFormat("team-%x", dice_.Below(1 << 16));
    const int claims =
        kSetSizes[dice_.Below(sizeof(kSetSizes) / sizeof(*kSetSizes))];
    for (int i = 0; i < claims; ++i) {
      vm.claims.push_back(
          absl::StrFormat("%s-%d-%08x", vm.name, i, dice_.Next() >> 32));
      vm.claim_uids.push_back(dice_.Uid());
    }
    vm.gpu_class = static_cast<int>(dice_.Below(16));
    vm.cpu = 100 * (1 + dice_.Below(80));
    vm.memory = 1024 * (1 + dice_.Below(64));
    return vm;
  }

  static std::string NodeName(int node) {
    return absl::StrFormat("gpu-node-%05d", node);
  }

  void Live(const Vm& vm) {
    constexpr auto kAdded = v1::ObjectEvent::ADDED;
    constexpr auto kModified = v1::ObjectEvent::MODIFIED;
    AddVmi(vm, kAdded, {});
    for (size_t i = 0; i < vm.claims.size(); ++i) AddClaim(vm, i, kAdded, {});
    AddPod(vm, kAdded, {});
    auto bind = [&] {
      for (size_t i = 0; i < vm.claims.size(); ++i) {
        AddClaim(vm, i, kModified, {.placed = true});
      }
    };
    bind();
    if (dice_.OneIn(kLossOneIn)) {
      for (size_t i = 0; i < vm.claims.size(); ++i) {
        AddClaim(vm, i, kModified, {.lost = true});
      }
      bind();
    }
    AddPod(vm, kModified, {.placed = true});
    AddPod(vm, kModified, {.placed = true, .running = true});
    AddVmi(vm, kModified, {.placed = true, .running = true});
  }

  void AddClaim(const Vm& vm, size_t index, v1::ObjectEvent::Type type,
                Shown shown) {
    const std::string status = shown.lost     ? Packed(kClaimLostStatus)
                               : shown.placed ? Packed(kClaimBoundStatus)
                                              : "";
    Add(Kind::kGpuClaim, type, vm,
        {vm.space, vm.claims[index], vm.claim_uids[index]},
        absl::StrReplaceAll(claim_, {{"@CLAIM_STATUS@", status},
                                     {"@CLAIM@", vm.claims[index]}}));
  }

  void AddPod(const Vm& vm, v1::ObjectEvent::Type type, Shown shown) {
    Add(Kind::kPod, type, vm, {vm.space, vm.pod, vm.pod_uid},
        absl::StrReplaceAll(
            pod_, {{"@PLACE@", Packed(shown.placed ? kPinned : kGated)},
                   {"@POD_STATUS@", Packed(shown.running ? kRuns : kWaits)}}));
  }

  void AddVmi(const Vm& vm, v1::ObjectEvent::Type type, Shown shown) {
    Add(Kind::kVirtualMachineInstance, type, vm,
        {vm.space, vm.name, vm.vmi_uid},
        absl::StrReplaceAll(
            vmi_, {{"@READY@", shown.running ? "True" : "False"},
                   {"@VMI_PHASE@", shown.running ? "Running" : "Scheduling"},
                   {R"("activePods":{"@POD_UID@":"@NODE@"})",
                    shown.placed ? R"("activePods":{"@POD_UID@":"@NODE@"})"
                                 : R"("activePods":{"@POD_UID@":""})"}}));
  }

  void AddNode(int node, v1::ObjectEvent::Type type) {
    Vm host;
    host.node = NodeName(node);
    host.created = "2026-03-14T09:26:53Z";
    host.gpu_class = node % 16;
    std::string text = node_;
    if (type == v1::ObjectEvent::MODIFIED && dice_.OneIn(kCordonOneIn)) {
      text = absl::StrReplaceAll(
          text, {{R"("spec":{)", R"("spec":{"unschedulable":true,)"}});
    }
    Add(Kind::kNode, type, host, {"", host.node, node_uids_[node]}, text);
  }

  struct Place {
    std::string name_space, name, uid;
  };

  void Add(Kind kind, v1::ObjectEvent::Type type, const Vm& vm,
           const Place& place, const std::string& text) {
    now_ += absl::Milliseconds(3 + static_cast<int64_t>(dice_.Below(900)));
    version_ += 1 + dice_.Below(9);
    const std::string raw = Filled(text, vm, place);
    std::optional<std::string> json = FilterForJournal(kind, raw);
    if (!json.has_value()) {
      status_ = absl::InternalError(
          absl::StrCat("the filter drops ", KindName(kind), " ", place.name));
      return;
    }
    stream_.raw_bytes += static_cast<int64_t>(raw.size());
    stream_.json_bytes += static_cast<int64_t>(json->size());
    v1::Record record;
    record.set_time_unix_nanos(absl::ToUnixNanos(now_));
    record.set_boot_clock_nanos(absl::ToUnixNanos(now_) % 1'000'000'000'000);
    record.set_epoch(3);
    record.set_role(v1::LEADER);
    record.set_model_version(1);
    record.set_filter_version(kFilterVersion);
    v1::ObjectEvent& event = *record.mutable_object();
    event.set_type(type);
    event.set_kind(std::string(KindName(kind)));
    event.set_namespace_(place.name_space);
    event.set_name(place.name);
    event.set_uid(place.uid);
    event.set_resource_version(absl::StrCat(version_));
    event.set_json(*std::move(json));
    stream_.records.push_back(std::move(record));
    if (kind != Kind::kNode && stream_.records.size() % kHeartbeatEvery == 0) {
      AddNode(static_cast<int>(dice_.Below(kNodes)), v1::ObjectEvent::MODIFIED);
    }
  }

  std::string Filled(std::string text, const Vm& vm, const Place& place) {
    for (size_t at; (at = text.find("@HEX@")) != std::string::npos;) {
      text.replace(at, 5, absl::StrFormat("%016x", HexOf(vm.node)));
    }
    return absl::StrReplaceAll(
        text,
        {{"@CREATED@", vm.created},
         {"@NOW@", Time()},
         {"@VM@", vm.name},
         {"@NAMESPACE@", vm.space},
         {"@POD@", vm.pod},
         {"@VM_UID@", vm.uid},
         {"@VMI_UID@", vm.vmi_uid},
         {"@POD_UID@", vm.pod_uid},
         {"@UID@", place.uid},
         {"@VERSION@", absl::StrCat(version_)},
         {"@NODE@", vm.node},
         {"@CLASS@", absl::StrFormat("gpu-%02d", vm.gpu_class)},
         {"@RESOURCE@", absl::StrFormat("nvidia.com/GPU_%02d", vm.gpu_class)},
         {"@COUNT@", "1"},
         {"@CPU@", absl::StrCat(vm.cpu)},
         {"@CORES@", absl::StrCat(1 + vm.cpu / 1000)},
         {"@MEMORY@", absl::StrCat(vm.memory)},
         {"@JOURNAL@", "5e1f09ab"},
         {"@SEQUENCE@", absl::StrCat(stream_.records.size())},
         {"@REGION@", "eu-1"},
         {"@BYTE@", absl::StrCat(100 + HexOf(vm.node) % 150)},
         {"@WRITER@", "virt-controller"},
         {"@TEAM@", vm.team},
         {"@COST@", absl::StrCat(HexOf(vm.team) % 100'000)},
         {"@IP@", absl::StrCat("10.244.", HexOf(vm.node) % 250, ".",
                               HexOf(vm.name) % 250)},
         {"@MAC@", absl::StrFormat("%02x:%02x:%02x", HexOf(vm.name) & 255,
                                   HexOf(vm.uid) & 255, vm.cpu & 255)}});
  }

  // A number that stays the same for one text.
  static uint64_t HexOf(absl::string_view text) {
    uint64_t hash = 14695981039346656037u;
    for (const char c : text) hash = (hash ^ (c & 0xff)) * 1099511628211u;
    return Dice(hash).Next();
  }

  Dice dice_;
  std::string pod_, vmi_, claim_, node_;
  std::vector<std::string> node_uids_;
  uint64_t vms_ = 0, version_ = 48'113'205;
  absl::Time now_ = absl::FromUnixSeconds(1'764'500'000);
  EventStream stream_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<EventStream> MakeEventStream(uint64_t seed, int64_t events) {
  return Stream(seed).Make(events);
}

}  // namespace gpubinder::bench
