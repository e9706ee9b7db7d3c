#include "journal/corpus.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "journal/corpus_templates.h"
#include "journal/dice.h"

namespace gpubinder {
namespace {

struct GpuClass {
  const char* name;
  const char* resource;
};
constexpr GpuClass kClasses[] = {
    {"h100", "nvidia.com/GH100_H100_PCIE"},
    {"l40s", "nvidia.com/AD102GL_L40S"},
    {"a16-4q", "nvidia.com/NVIDIA_A16-4Q"},
    {"a100-80g", "nvidia.com/GA100_A100_SXM4_80GB"},
};
constexpr const char* kWords[] = {"web",   "db",    "render", "train",
                                  "infer", "batch", "dev",    "stage",
                                  "lab",   "edge",  "api",    "queue"};

struct Vm {
  std::string name, space, claim, pod, uid, vmi_uid, claim_uid, pod_uid, node;
  std::string created;
  GpuClass gpu;
  uint64_t count, cpu, memory;
};

class Corpus {
 public:
  explicit Corpus(const CorpusOptions& options)
      : options_(options), dice_(options.seed) {}

  std::vector<v1::Record> Make() && {
    for (int i = 0; i < options_.vms; ++i) LiveOnce();
    return std::move(records_);
  }

 private:
  void LiveOnce();
  Vm NewVm();
  v1::Record& Add();
  void Heartbeat();
  v1::ObjectEvent Event(v1::ObjectEvent::Type type, const Vm& vm,
                        absl::string_view kind, bool placed, bool running);
  std::string Filled(absl::string_view text, const Vm& vm);
  void Decide(const Vm& vm);

  std::string Now() const {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now_, absl::UTCTimeZone());
  }
  std::string Version() { return absl::StrCat(version_ += 1 + dice_.Below(9)); }

  CorpusOptions options_;
  Dice dice_;
  uint64_t version_ = 48'113'205;
  absl::Time now_ = absl::FromUnixSeconds(1'764'500'000);
  std::vector<v1::Record> records_;
};

v1::Record& Corpus::Add() {
  now_ += absl::Milliseconds(3 + static_cast<int64_t>(dice_.Below(900)));
  v1::Record record;
  record.set_time_unix_nanos(absl::ToUnixNanos(now_));
  record.set_boot_clock_nanos(absl::ToUnixNanos(now_) % 1'000'000'000'000'000);
  record.set_epoch(3);
  record.set_role(v1::LEADER);
  record.set_model_version(1);
  record.set_filter_version(1);
  records_.push_back(std::move(record));
  return records_.back();
}

Vm Corpus::NewVm() {
  Vm vm;
  vm.name = absl::StrCat(kWords[dice_.Below(std::size(kWords))], "-",
                         dice_.Below(1000));
  vm.space = absl::StrCat("tenant-", kWords[dice_.Below(std::size(kWords))]);
  vm.claim = absl::StrCat(vm.name, "-0-", dice_.Hex().substr(0, 8));
  vm.pod =
      absl::StrCat("virt-launcher-", vm.name, "-", dice_.Hex().substr(0, 5));
  vm.uid = dice_.Uid();
  vm.vmi_uid = dice_.Uid();
  vm.claim_uid = dice_.Uid();
  vm.pod_uid = dice_.Uid();
  vm.node = absl::StrCat("gpu-node-", dice_.Below(options_.nodes));
  vm.created = Now();
  vm.gpu = kClasses[dice_.Below(std::size(kClasses))];
  vm.count = 1 + dice_.Below(8);
  vm.cpu = 100 * (1 + dice_.Below(80));
  vm.memory = 1024 * (1 + dice_.Below(64));
  return vm;
}

std::string Corpus::Filled(absl::string_view text, const Vm& vm) {
  return absl::StrReplaceAll(
      text, {{"@CREATED@", vm.created},
             {"@NOW@", Now()},
             {"@VM@", vm.name},
             {"@NAMESPACE@", vm.space},
             {"@CLAIM@", vm.claim},
             {"@POD@", vm.pod},
             {"@VM_UID@", vm.uid},
             {"@VMI_UID@", vm.vmi_uid},
             {"@POD_UID@", vm.pod_uid},
             {"@NODE@", vm.node},
             {"@CLASS@", vm.gpu.name},
             {"@RESOURCE@", vm.gpu.resource},
             {"@COUNT@", absl::StrCat(vm.count)},
             {"@CPU@", absl::StrCat(vm.cpu)},
             {"@CORES@", absl::StrCat(1 + vm.cpu / 1000)},
             {"@MEMORY@", absl::StrCat(vm.memory)},
             {"@JOURNAL@", "5e1f09ab"},
             {"@SEQUENCE@", absl::StrCat(records_.size())},
             {"@REGION@", "eu-1"},
             {"@BYTE@", absl::StrCat(100 + dice_.Below(150))},
             {"@IP@",
              absl::StrCat("10.244.", dice_.Below(250), ".", dice_.Below(250))},
             {"@MAC@", absl::StrFormat("%02x:%02x:%02x", dice_.Below(256),
                                       dice_.Below(256), dice_.Below(256))}});
}

v1::ObjectEvent Corpus::Event(v1::ObjectEvent::Type type, const Vm& vm,
                              absl::string_view kind, bool placed,
                              bool running) {
  v1::ObjectEvent event;
  event.set_type(type);
  event.set_kind(std::string(kind));
  event.set_namespace_(vm.space);
  event.set_resource_version(Version());
  const char* text = kClaimTemplate;
  event.set_name(vm.claim);
  event.set_uid(vm.claim_uid);
  if (kind == "Pod") {
    text = kLauncherTemplate;
    event.set_name(vm.pod);
    event.set_uid(vm.pod_uid);
  } else if (kind == "VirtualMachineInstance") {
    text = kVmiTemplate;
    event.set_name(vm.name);
    event.set_uid(vm.vmi_uid);
  }
  const std::string affinity = placed ? R"("affinity":{"nodeAffinity":{
"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{
"matchExpressions":[{"key":"node-labeller.kubevirt.io/obsolete-host-model",
"operator":"DoesNotExist"}],"matchFields":[{"key":"metadata.name",
"operator":"In","values":["@NODE@"]}]}]}}},)"
                                      : R"("schedulingGates":[{
"name":"gpu.cozystack.io/claims"}],)";
  const std::string status = running ? R"("phase":"Running","conditions":[{
"type":"kubevirt.io/virtual-machine-unpaused","status":"True","lastProbeTime":
"@CREATED@","lastTransitionTime":"@CREATED@","reason":"NotPaused","message":
"the virtual machine is not paused"},{"type":"Ready","status":"True",
"lastProbeTime":null,"lastTransitionTime":"@NOW@"},{"type":"PodScheduled",
"status":"True","lastProbeTime":null,"lastTransitionTime":"@CREATED@"}],
"hostIP":"@IP@","podIP":"@IP@","podIPs":[{"ip":"@IP@"}],"startTime":"@NOW@",)"
                                     : R"("phase":"Pending","conditions":[{
"type":"PodScheduled","status":"False","lastProbeTime":null,
"lastTransitionTime":null,"reason":"SchedulingGated",
"message":"Scheduling is blocked due to non-empty scheduling gates"}],)";
  const std::string whole = absl::StrReplaceAll(
      text, {{"@CLAIM_STATUS@", placed ? kClaimBoundStatus : ""},
             {"@PLACE@", affinity},
             {"@POD_STATUS@", status},
             {"@READY@", running ? "True" : "False"},
             {"@VMI_PHASE@", running ? "Running" : "Scheduling"},
             {"@UID@", event.uid()},
             {"@VERSION@", event.resource_version()}});
  event.set_json(Filled(Packed(whole), vm));
  return event;
}

void Corpus::Heartbeat() {
  Vm host = NewVm();
  host.created = "2026-03-14T09:26:53Z";
  v1::ObjectEvent& event = *Add().mutable_object();
  event.set_type(v1::ObjectEvent::MODIFIED);
  event.set_kind("Node");
  event.set_name(host.node);
  event.set_uid(dice_.Uid());
  event.set_resource_version(Version());
  std::string json = Packed(kNodeTemplate);
  for (size_t at; (at = json.find("@HEX@")) != std::string::npos;) {
    json.replace(at, 5, dice_.Hex());
  }
  event.set_json(Filled(
      absl::StrReplaceAll(json, {{"@UID@", event.uid()},
                                 {"@VERSION@", event.resource_version()}}),
      host));
}

void Corpus::Decide(const Vm& vm) {
  v1::PassBegan& began = *Add().mutable_pass_began();
  began.set_time_unix_nanos(absl::ToUnixNanos(now_));
  began.set_through(records_.size() - 1);
  const uint64_t pass = records_.size();
  v1::Decision& decision = *Add().mutable_decision();
  decision.set_pass(pass);
  decision.set_explanations_digest(dice_.Hex() + dice_.Hex());
  v1::Effect bind;
  bind.set_set_key(absl::StrCat(vm.space, "/", vm.name));
  v1::Target& target = *bind.mutable_target();
  target.set_kind("GPUClaim");
  target.set_namespace_(vm.space);
  target.set_name(vm.claim);
  target.set_uid(vm.claim_uid);
  target.set_resource_version(absl::StrCat(version_));
  v1::Effect pin = bind;
  pin.mutable_target()->set_kind("Pod");
  pin.mutable_target()->set_name(vm.pod);
  pin.mutable_target()->set_uid(vm.pod_uid);
  bind.mutable_bind_claim()->set_node_name(vm.node);
  bind.mutable_bind_claim()->set_resource_name(vm.gpu.resource);
  bind.mutable_bind_claim()->set_bound_at_unix_seconds(
      absl::ToUnixSeconds(now_));
  bind.mutable_bind_claim()->set_units(static_cast<int64_t>(vm.count));
  pin.mutable_pin_pod()->set_node_name(vm.node);
  pin.mutable_pin_pod()->add_term_indices(0);
  *decision.add_effects() = bind;
  *decision.add_effects() = pin;
  v1::Explanation& explanation = *decision.add_explanations();
  explanation.set_namespace_(vm.space);
  explanation.set_name(vm.name);
  explanation.set_key(bind.set_key());
  explanation.set_vmi_uid(vm.vmi_uid);
  explanation.set_pod_uid(vm.pod_uid);
  explanation.set_reason(v1::PLACED);
  explanation.set_node(vm.node);
  v1::NodeGroup& group = *explanation.add_groups();
  group.set_nodes(static_cast<uint32_t>(1 + dice_.Below(40)));
  group.set_example(absl::StrCat("gpu-node-", dice_.Below(options_.nodes)));
  v1::ReasonDetail& reason = *group.add_reasons();
  reason.set_reason(v1::INSUFFICIENT_UNITS);
  reason.set_resource(vm.gpu.resource);
  reason.set_wanted(static_cast<int64_t>(vm.count));
}

void Corpus::LiveOnce() {
  constexpr auto kAdded = v1::ObjectEvent::ADDED;
  constexpr auto kModified = v1::ObjectEvent::MODIFIED;
  constexpr absl::string_view kVmi = "VirtualMachineInstance";
  const Vm vm = NewVm();
  *Add().mutable_object() = Event(kAdded, vm, kVmi, false, false);
  *Add().mutable_object() = Event(kAdded, vm, "GPUClaim", false, false);
  *Add().mutable_object() = Event(kAdded, vm, "Pod", false, false);
  Decide(vm);
  const uint64_t decision = records_.size();
  for (const uint32_t effect : {0u, 1u}) {
    const v1::ObjectEvent object =
        Event(kModified, vm, effect == 0 ? "GPUClaim" : "Pod", true, false);
    v1::Outcome& outcome = *Add().mutable_outcome();
    outcome.set_decision(decision);
    outcome.set_effect(effect);
    outcome.set_kind(v1::Outcome::APPLIED);
    outcome.set_code(200);
    *outcome.mutable_object() = object;
    *Add().mutable_object() = object;
  }
  *Add().mutable_object() = Event(kModified, vm, "Pod", true, true);
  *Add().mutable_object() = Event(kModified, vm, kVmi, true, true);
  if (records_.size() % 8 < 4) Heartbeat();
  Heartbeat();
}

}  // namespace

std::vector<v1::Record> MakeCorpus(const CorpusOptions& options) {
  return Corpus(options).Make();
}

}  // namespace gpubinder
