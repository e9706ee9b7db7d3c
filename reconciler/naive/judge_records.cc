// H2 and H5: what the binder keeps for others to read. Judged on the cluster as
// it was seen, since a record tells what was written and not what is about to
// be.

#include "reconciler/naive/bench.h"

namespace gpubinder::naive {
namespace {

const char kWorkload[] = "Workload";
const char kConfigMap[] = "ConfigMap";

// Whether objects of the kind can be made, and those that exist are known.
bool CanBeWritten(const World& world, Kind kind) {
  const KindState& state = world.snapshot->kinds[static_cast<size_t>(kind)];
  return state.served && state.listed && !state.gone;
}

bool IsAbout(const v1::Effect& effect, const char* kind,
             const std::string& name_space, const std::string& name) {
  return effect.target().kind() == kind &&
         effect.target().namespace_() == name_space &&
         effect.target().name() == name;
}

std::vector<const v1::Effect*> WritesTo(const Bench& bench, const char* kind,
                                        const std::string& name_space,
                                        const std::string& name) {
  std::vector<const v1::Effect*> writes;
  for (const v1::Effect& effect : bench.result->effects) {
    if (IsAbout(effect, kind, name_space, name)) writes.push_back(&effect);
  }
  return writes;
}

const Workload* RecordOf(const World& world, const GpuClaim& claim) {
  const Table<Workload>& table = world.snapshot->Of<Workload>();
  for (Row row = 0; row < table.end(); ++row) {
    if (table.Holds(row) &&
        table[row].meta.name_space == claim.meta.name_space &&
        table[row].meta.name == "gpu-" + claim.meta.name) {
      return &table[row];
    }
  }
  return nullptr;
}

bool HasOwner(const Workload& record, const std::string& uid) {
  for (const OwnerReference& owner : record.meta.owners) {
    if (owner.uid == uid) return true;
  }
  return false;
}

bool HasMonitorLabel(const Workload& record) {
  return record.meta.labels.contains("workloads.cozystack.io/monitor");
}

// What is booked: the resource that was written with the binding, else the
// class's.
std::string ResourceOf(const World& world, const GpuClaim& claim) {
  if (!claim.resource_name.empty()) return claim.resource_name;
  const GpuClass* of = FindClass(world, claim.class_name);
  return of == nullptr ? "" : of->resource_name;
}

bool IsRight(const Workload& record, const GpuClaim& claim,
             const std::string& resource) {
  const ResourceList wanted = {{resource, std::to_string(claim.units)}};
  return HasOwner(record, claim.meta.uid) && !HasMonitorLabel(record) &&
         record.kind == "gpu" && record.type == claim.class_name &&
         record.resources == wanted && record.operational;
}

bool WrittenInTheLastMinute(const World& world, const GpuClaim& claim) {
  auto last = world.snapshot->usage_writes.find(
      NameKey(claim.meta.name_space, "gpu-" + claim.meta.name));
  return last != world.snapshot->usage_writes.end() &&
         world.now - last->second < absl::Minutes(1);
}

enum class Due { kNothing, kWrite, kDelete };

Due DueFor(const World& world, const GpuClaim& claim, const Workload* record) {
  if (record != nullptr && record->meta.deleting.has_value()) {
    return Due::kNothing;
  }
  if (HasToWait(world, kWorkload, claim.meta.name_space,
                "gpu-" + claim.meta.name,
                record == nullptr ? "" : record->meta.uid)) {
    return Due::kNothing;
  }
  if (claim.phase != "Bound" || claim.node_name.empty()) {
    if (record == nullptr) return Due::kNothing;
    // Only one that is a claim's of that name is ours to take away.
    for (const OwnerReference& owner : record->meta.owners) {
      if (owner.kind == "GPUClaim" && owner.name == claim.meta.name) {
        return Due::kDelete;
      }
    }
    return Due::kNothing;
  }
  const std::string resource = ResourceOf(world, claim);
  if (!claim.meta.problems.empty() || resource.empty()) return Due::kNothing;
  if (record != nullptr && IsRight(*record, claim, resource)) {
    return Due::kNothing;
  }
  if (record == nullptr && IsTerminating(world, claim.meta.name_space)) {
    return Due::kNothing;
  }
  return WrittenInTheLastMinute(world, claim) ? Due::kNothing : Due::kWrite;
}

void JudgeContent(Bench& bench, const std::string& key, const GpuClaim& claim,
                  const Workload* record, const v1::Effect& effect) {
  const v1::WriteUsageRecord& write = effect.write_usage_record();
  if (write.class_name() != claim.class_name ||
      write.resource() != ResourceOf(bench.world, claim) ||
      write.units() != claim.units) {
    bench.Fault(key, "tells another use than the claim's");
  }
  if (write.owner().uid() != claim.meta.uid ||
      write.owner().name() != claim.meta.name ||
      write.owner().kind() != "GPUClaim" ||
      write.owner().api_version() != "gpu.cozystack.io/v1alpha1") {
    bench.Fault(key, "is not owned by its claim");
  }
  if (record == nullptr) {
    if (!effect.target().uid().empty()) bench.Fault(key, "is not there");
    return;
  }
  if (effect.target().uid() != record->meta.uid ||
      effect.target().resource_version() != record->meta.resource_version) {
    bench.Fault(key, "is written without its uid and version");
  }
  if (write.set_owner() == HasOwner(*record, claim.meta.uid) ||
      write.remove_monitor_label() != HasMonitorLabel(*record)) {
    bench.Fault(key, "owner or label are not put right, or are already");
  }
}

void JudgeUsageRecord(Bench& bench, const GpuClaim& claim) {
  const std::string name = "gpu-" + claim.meta.name;
  const std::string key = claim.meta.name_space + "/" + name;
  const Workload* record = RecordOf(bench.world, claim);
  const Due due = DueFor(bench.world, claim, record);
  const auto writes = WritesTo(bench, kWorkload, claim.meta.name_space, name);
  if (due == Due::kNothing) {
    if (!writes.empty()) bench.Fault(key, "gets a write, none is due");
    return;
  }
  if (writes.size() != 1) {
    bench.Fault(key, "H2 has one write due, the pass has " +
                         std::to_string(writes.size()));
    return;
  }
  if (writes[0]->has_write_usage_record() != (due == Due::kWrite) ||
      writes[0]->has_delete_usage_record() != (due == Due::kDelete)) {
    bench.Fault(key, "gets another write than is due");
    return;
  }
  if (!writes[0]->set_key().empty()) {
    bench.Fault(key, "would hold up the claim's set");
  }
  if (due == Due::kWrite) {
    JudgeContent(bench, key, claim, record, *writes[0]);
  }
}

void JudgeUsageRecords(Bench& bench) {
  const bool can = CanBeWritten(bench.world, Kind::kWorkload);
  std::set<std::string> of_claims;
  for (const ClaimState& state : bench.world.claims) {
    const GpuClaim& claim = *state.claim;
    of_claims.insert(claim.meta.name_space + "/gpu-" + claim.meta.name);
    if (can) JudgeUsageRecord(bench, claim);
  }
  for (const v1::Effect& effect : bench.result->effects) {
    const v1::Target& target = effect.target();
    if (target.kind() != kWorkload) continue;
    if (!can) bench.Fault(target.name(), "its kind is not served");
    if (!of_claims.contains(target.namespace_() + "/" + target.name())) {
      bench.Fault(target.name(), "is no claim's usage record");
    }
  }
}

std::map<std::string, std::string> SettingsOf(const World& world) {
  const Config& config = world.snapshot->config;
  std::set<std::string> names(config.extra_resource_names.begin(),
                              config.extra_resource_names.end());
  for (const GpuClass* one : world.classes) {
    if (!one->resource_name.empty()) names.insert(one->resource_name);
  }
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ",";
    list += name;
  }
  return {{"resourceNames", list},
          {"rawResourceNames",
           config.raw_resource_names_allowed ? "allowed" : "denied"}};
}

const ConfigMap* FindSettings(const World& world) {
  const Table<ConfigMap>& table = world.snapshot->Of<ConfigMap>();
  for (Row row = 0; row < table.end(); ++row) {
    if (table.Holds(row) && table[row].meta.name == "gpu-settings" &&
        table[row].meta.name_space == world.snapshot->config.name_space) {
      return &table[row];
    }
  }
  return nullptr;
}

// What the write makes of the data that is there.
std::map<std::string, std::string> After(const ConfigMap* there,
                                         const v1::WriteSettings& write) {
  std::map<std::string, std::string> data;
  if (there != nullptr) data.insert(there->data.begin(), there->data.end());
  for (const std::string& key : write.remove_keys()) data.erase(key);
  data["resourceNames"] = write.resource_names();
  data["rawResourceNames"] = write.raw_resource_names();
  return data;
}

void JudgeSettings(Bench& bench) {
  const World& world = bench.world;
  const std::string& name_space = world.snapshot->config.name_space;
  const ConfigMap* there = FindSettings(world);
  const std::map<std::string, std::string> wanted = SettingsOf(world);
  const std::map<std::string, std::string> found =
      there == nullptr ? std::map<std::string, std::string>()
                       : std::map<std::string, std::string>(there->data.begin(),
                                                            there->data.end());
  const bool due =
      CanBeWritten(world, Kind::kConfigMap) &&
      (there == nullptr ? !IsTerminating(world, name_space)
                        : found != wanted && !there->meta.deleting) &&
      !HasToWait(world, kConfigMap, name_space, "gpu-settings",
                 there == nullptr ? "" : there->meta.uid);
  int writes = 0;
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.target().kind() != kConfigMap) continue;
    ++writes;
    if (!IsAbout(effect, kConfigMap, name_space, "gpu-settings")) {
      bench.Fault(effect.target().name(), "is not the binder's");
    } else if (After(there, effect.write_settings()) != wanted) {
      bench.Fault("gpu-settings", "is written, and is not right then");
    } else if (effect.target().uid() !=
               (there == nullptr ? std::string() : there->meta.uid)) {
      bench.Fault("gpu-settings", "is written under another uid");
    }
  }
  if (writes != (due ? 1 : 0)) {
    bench.Fault("gpu-settings", std::to_string(writes) + " writes, " +
                                    (due ? "1" : "0") + " due");
  }
}

// 8: finalizers, usage records, settings, conditions, warnings.
void JudgeOrderOfRecords(Bench& bench) {
  int told = 0;
  for (const v1::Effect& effect : bench.result->effects) {
    const int place =
        effect.has_write_usage_record() || effect.has_delete_usage_record() ? 1
        : effect.has_write_settings()                                       ? 2
        : effect.has_set_condition()                                        ? 3
                                                                            : 0;
    const bool finalizer =
        effect.has_remove_finalizer() || effect.has_delete_template_claim();
    if (place == 0 && !(finalizer && told > 0)) continue;
    if (place < told) {
      bench.Fault(effect.target().name(), "comes too late in step 8");
    }
    told = place;
  }
}

}  // namespace

bool HasToWait(const World& world, const char* kind,
               const std::string& name_space, const std::string& name,
               const std::string& uid) {
  for (const auto& [id, effect] : world.snapshot->in_flight) {
    if (IsAbout(effect, kind, name_space, name)) return true;
  }
  const std::string by_name = std::string(kind) + " " + name_space + " " + name;
  for (const auto& [key, rate] : world.snapshot->write_rates) {
    if (rate.until > world.now && (key == by_name || key == uid)) return true;
  }
  return false;
}

void JudgeRecords(Bench& bench) {
  JudgeUsageRecords(bench);
  JudgeSettings(bench);
  JudgeOrderOfRecords(bench);
}

}  // namespace gpubinder::naive
