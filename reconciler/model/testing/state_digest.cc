#include "reconciler/model/testing/state_digest.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpubinder {
namespace {

// Each struct is taken apart with a name for every field, so that a new field
// does not compile before it is added here too.
struct Feeder {
  StateHash& hash;
  const ScenarioServer& server;

  template <typename... Fields>
  void All(const Fields&... fields) {
    (Feed(fields), ...);
  }

  void Feed(const std::string& text) { hash.Add(absl::string_view(text)); }
  void Feed(absl::Time time) { hash.Add(time); }
  template <typename Number>
  requires std::is_integral_v<Number> || std::is_enum_v<Number>
  void Feed(Number number) { hash.Add(number); }
  template <typename T>
  void Feed(const std::optional<T>& value) {
    hash.Add(value.has_value());
    if (value.has_value()) Feed(*value);
  }
  template <typename A, typename B>
  void Feed(const std::pair<A, B>& value) {
    All(value.first, value.second);
  }
  template <typename T>
  void Feed(const std::vector<T>& list) {
    hash.Add(list.size());
    for (const T& value : list) Feed(value);
  }
  template <typename K, typename V>
  void Feed(const absl::btree_map<K, V>& map) {
    hash.Add(map.size());
    for (const auto& [key, value] : map) All(key, value);
  }
  void Feed(const StringMap& map) {
    hash.Add(map.size());
    for (const auto& [key, value] : map) All(key, value);
  }
  template <typename T>
  void Feed(const absl::btree_set<T>& values) {
    hash.Add(values.size());
    for (const T& value : values) Feed(value);
  }

  void Feed(const FieldProblem& value) {
    const auto& [field, message] = value;
    All(field, message);
  }
  void Feed(const OwnerReference& value) {
    const auto& [api, kind, name, uid, controller] = value;
    All(api, kind, name, uid, controller);
  }
  void Feed(const ObjectMeta& value) {
    const auto& [space, name, uid, version, created, deleting, generation,
                 labels, annotations, finalizers, owners, problems] = value;
    All(space, name, uid, created, deleting, generation, labels, annotations,
        finalizers, owners, problems);
  }
  void Feed(const Condition& value) {
    const auto& [type, status, reason, message, observed, at] = value;
    All(type, status, reason, message, observed, at);
  }
  void Feed(const DecisionKey& value) {
    const auto& [journal, epoch, sequence] = value;
    All(journal, epoch);
  }
  void Feed(const Taint& value) {
    const auto& [key, text, effect] = value;
    All(key, text, effect);
  }
  void Feed(const Toleration& value) {
    const auto& [key, op, text, effect, seconds] = value;
    All(key, op, text, effect, seconds);
  }
  void Feed(const Requirement& value) {
    const auto& [key, op, values] = value;
    All(key, op, values);
  }
  void Feed(const SelectorTerm& value) {
    const auto& [expressions, fields] = value;
    All(expressions, fields);
  }
  void Feed(const NodeSelector& value) { Feed(value.terms); }
  void Feed(const RejectedNode& value) {
    const auto& [node, node_uid, pod_uid, resources, reason, fingerprint, at,
                 until] = value;
    All(node, node_uid, pod_uid, resources, reason, fingerprint, at, until);
  }
  void Feed(const Attachment& value) {
    const auto& [name, uid, since] = value;
    All(name, uid, since);
  }
  void Feed(const SetSummaryLine& value) {
    const auto& [reason, example, resource, key, nodes] = value;
    All(reason, example, resource, key, nodes);
  }
  void Feed(const ClaimEntry& value) {
    const auto& [claim, of_class, units] = value;
    All(claim, of_class, units);
  }
  void Feed(const ClaimsAnnotation& value) {
    const auto& [present, entries, error] = value;
    All(present, entries, error);
  }
  void Feed(const Container& value) {
    const auto& [name, requests, restart] = value;
    All(name, requests, restart);
  }
  void Feed(const VirtualMachineInstance::Device& value) {
    const auto& [name, device] = value;
    All(name, device);
  }

  void Feed(const Node& value) {
    const auto& [meta, unschedulable, taints, allocatable, conditions] = value;
    All(meta, unschedulable, taints, allocatable, conditions);
  }
  void Feed(const GpuClass& value) {
    const auto& [meta, resource, type, most, selector, tolerations, on_cordon,
                 conditions] = value;
    All(meta, resource, type, most, selector, tolerations, on_cordon,
        conditions);
  }
  void Feed(const GpuClaim& value) {
    const auto& [meta, of_class, units, phase, node, resource, bound_at,
                 rejected, attached, conditions, decision] = value;
    All(meta, of_class, units, phase, node, resource, bound_at, rejected,
        attached, conditions, decision);
  }
  void Feed(const GpuClaimSet& value) {
    const auto& [meta, claims, node, vmi, pod, reason, message, ended, since,
                 transitions, rejected, summary, decision] = value;
    All(meta, claims, node, vmi, pod, reason, message, ended, since,
        transitions, rejected, summary, decision);
  }
  void Feed(const VirtualMachine& value) {
    const auto& [meta, claims, strategy, volumes, changes] = value;
    All(meta, claims, strategy, volumes, changes);
  }
  void Feed(const VirtualMachineInstance& value) {
    const auto& [meta, claims, phase, node, pods, volumes, hotplug, conditions,
                 gpus, devices, requests, limits] = value;
    All(meta, claims, phase, node, pods, volumes, hotplug, conditions, gpus,
        devices, requests, limits);
  }
  void Feed(const Pod& value) {
    const auto& [meta, node, gates, selector, affinity, node_affinity, required,
                 tolerations, containers, init, overhead, requests, volumes,
                 phase, reason, nominated, conditions] = value;
    All(meta, node, gates, selector, affinity, node_affinity, required,
        tolerations, containers, init, overhead, requests, volumes, phase,
        reason, nominated, conditions);
  }
  void Feed(const Namespace& value) {
    const auto& [meta, terminating] = value;
    All(meta, terminating);
  }
  void Feed(const ResourceQuota& value) {
    const auto& [meta, hard] = value;
    All(meta, hard);
  }
  void Feed(const PersistentVolumeClaim& value) {
    const auto& [meta, volume, completed] = value;
    All(meta, volume, completed);
  }
  void Feed(const PersistentVolume& value) {
    const auto& [meta, required, space, name, uid] = value;
    All(meta, required, space, name, uid);
  }
  void Feed(const SchedulingClass& value) {
    const auto& [meta, selector, required] = value;
    All(meta, selector, required);
  }
  void Feed(const Workload& value) {
    const auto& [meta, kind, type, resources, operational] = value;
    All(meta, kind, type, resources, operational);
  }
  void Feed(const ConfigMap& value) {
    const auto& [meta, data] = value;
    All(meta, data);
  }

  void Feed(const KindState& value) {
    const auto& [served, listing, listed, gone, version] = value;
    All(served, listing, listed, gone);
  }
  void Feed(const KubeletRefusal& value) {
    const auto& [space, pod, pod_uid, vmi, vmi_uid, node, reason, resources,
                 migrates, recorded, at] = value;
    All(space, pod, pod_uid, vmi, vmi_uid, node, reason, resources, migrates,
        recorded, at);
  }
  void Feed(const Shortage& value) {
    const auto& [since, overbooked] = value;
    All(since, overbooked);
  }
  void Feed(const Silence& value) {
    const auto& [told, seen] = value;
    All(told, seen);
  }
  void Feed(const UnkeptNode& value) {
    const auto& [since, held, confirmed, classes] = value;
    All(since, held, confirmed, classes);
  }
  void Feed(const WriteRate& value) {
    const auto& [refusals, write, answer, until] = value;
    All(refusals, write, answer, until);
  }
  void Feed(const AppliedWrite& value) {
    const auto& [content, at] = value;
    All(content, at);
  }
  void Feed(const v1::Explanation& value) { Feed(value.SerializeAsString()); }

  // As the snapshot has it: older than the server's, or the same.
  template <typename T>
  void FeedTable(const Table<T>& table) {
    hash.Add(table.size());
    for (const auto& [key, row] : table.by_name()) {
      const T& object = table[row];
      const Kind kind = KindOf(Object(std::in_place_type<T>));
      const Object* there =
          server.Find(kind, object.meta.name_space, object.meta.name);
      const bool same = there != nullptr && MetaOf(*there).resource_version ==
                                                object.meta.resource_version;
      hash.Add(same);
      // What is the same on the server is told there.
      if (!same || std::get<T>(*there) != object) Feed(object);
    }
    All(table.dead);
    hash.Add(table.listed.size() + table.written.size());
    for (const auto* rows : {&table.listed, &table.written}) {
      for (const Row row : *rows) {
        if (table.Holds(row)) Feed(table[row].meta.name);
      }
    }
  }
};

// A version that no later write of the pod can bring back.
void FeedRefusedPins(const Snapshot& snapshot, Feeder& feeder) {
  for (const auto& [uid, refused] : snapshot.refused_pins) {
    const auto& [version, message] = refused;
    const std::optional<Row> pod = snapshot.pods().FindUid(uid);
    feeder.All(uid, message,
               pod.has_value() &&
                   snapshot.pods()[*pod].meta.resource_version == version);
  }
}

}  // namespace

void AddEffect(const v1::Effect& effect, const ScenarioServer& server,
               StateHash& hash) {
  v1::Effect plain = effect;
  const v1::Target& target = effect.target();
  const Object* there = server.Find(*KindByName(target.kind()),
                                    target.namespace_(), target.name());
  hash.Add(there != nullptr &&
           MetaOf(*there).resource_version == target.resource_version());
  plain.mutable_target()->clear_resource_version();
  hash.Add(absl::string_view(plain.SerializeAsString()));
}

void ScenarioServer::AddMemory(StateHash& hash) const {
  hash.Add(incarnations_.size());
  for (const auto& [key, count] : incarnations_) {
    hash.Add(std::get<Kind>(key));
    hash.Add(absl::string_view(std::get<1>(key)));
    hash.Add(absl::string_view(std::get<2>(key)));
    hash.Add(count);
  }
  hash.Add(events_.size());
  for (const std::string& name : events_) hash.Add(absl::string_view(name));
}

void AddConfig(const Config& config, StateHash& hash) {
  hash.Add(absl::string_view(ConfigRecord(config).SerializeAsString()));
}

void AddState(const ScenarioServer& server, const Snapshot& snapshot,
              StateHash& hash) {
  Feeder feeder{hash, server};
  hash.Add(server.objects().size());
  for (const auto& [key, object] : server.objects()) {
    hash.Add(std::get<Kind>(key));
    std::visit([&](const auto& one) { feeder.Feed(one); }, object);
  }
  server.AddMemory(hash);
  std::apply([&](const auto&... tables) { (feeder.FeedTable(tables), ...); },
             snapshot.tables);
  for (const KindState& kind : snapshot.kinds) feeder.Feed(kind);
  for (const auto& [id, effect] : snapshot.in_flight) {
    AddEffect(effect, server, hash);
  }
  FeedRefusedPins(snapshot, feeder);
  feeder.All(
      snapshot.write_rates, snapshot.usage_writes, snapshot.applied_writes,
      snapshot.kubelet_refusals, snapshot.unlisted_refusals, snapshot.listed_by,
      snapshot.refused_since, snapshot.attached_since, snapshot.gone_since,
      snapshot.unkept_nodes, snapshot.endings, snapshot.shortages,
      snapshot.not_ready, snapshot.kubevirt_silent, snapshot.explanations,
      snapshot.journal_uid, snapshot.epoch, snapshot.highest_epoch);
  AddConfig(snapshot.config, hash);
}

}  // namespace gpubinder
