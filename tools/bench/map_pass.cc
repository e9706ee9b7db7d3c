#include "tools/bench/map_pass.h"

#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gpubinder::bench {
namespace {

bool Serves(const MapNode& node, const MapClass& gpu_class) {
  if (!node.schedulable) return false;
  for (const auto& [key, value] : gpu_class.selector) {
    auto found = node.labels.find(key);
    if (found == node.labels.end() || found->second != value) return false;
  }
  auto found = node.allocatable.find(gpu_class.resource);
  return found != node.allocatable.end() && found->second > 0;
}

void SumUp(const MapWorld& world, MapPassResult& result) {
  for (const auto& [name, claim] : world.claims) {
    const std::string& resource = world.classes.at(claim.class_name).resource;
    result.ordered[claim.tenant][claim.class_name] += claim.units;
    if (claim.phase != "Bound") continue;
    result.used[claim.node][resource] += claim.units;
  }
}

void CheckSets(const MapWorld& world, MapPassResult& result) {
  std::map<std::string, std::vector<const MapClaim*>> sets;
  for (const auto& [name, claim] : world.claims) {
    sets[claim.set].push_back(&claim);
  }
  for (const auto& [name, members] : sets) {
    std::set<std::string> nodes;
    bool served = true;
    for (const MapClaim* claim : members) {
      if (claim->phase != "Bound") continue;
      nodes.insert(claim->node);
      served = served && Serves(world.nodes.at(claim->node),
                                world.classes.at(claim->class_name));
    }
    if (nodes.size() > 1) result.split_sets.push_back(name);
    if (!served) result.unserved_sets.push_back(name);
  }
}

}  // namespace

MapWorld MapWorldOf(const Snapshot& snapshot) {
  MapWorld world;
  for (const auto& [key, row] : snapshot.claims().by_name()) {
    const GpuClaim& claim = snapshot.claims()[row];
    std::string vm = claim.attached_to.has_value() ? claim.attached_to->name
                     : claim.meta.owners.empty()   ? claim.meta.name
                                                   : claim.meta.owners[0].name;
    world.claims[absl::StrCat(claim.meta.name_space, "/", claim.meta.name)] = {
        .tenant = claim.meta.name_space,
        .set = absl::StrCat(claim.meta.name_space, "/", vm),
        .class_name = claim.class_name,
        .node = claim.node_name,
        .phase = claim.phase,
        .units = claim.units};
  }
  for (const auto& [key, row] : snapshot.nodes().by_name()) {
    const Node& node = snapshot.nodes()[row];
    MapNode& made = world.nodes[node.meta.name];
    made.schedulable = !node.unschedulable;
    made.labels.insert(node.meta.labels.begin(), node.meta.labels.end());
    for (const auto& [name, text] : node.allocatable) {
      int64_t units = 0;
      if (absl::SimpleAtoi(text, &units)) made.allocatable[name] = units;
    }
  }
  for (const auto& [key, row] : snapshot.classes().by_name()) {
    const GpuClass& gpu_class = snapshot.classes()[row];
    MapClass& made = world.classes[gpu_class.meta.name];
    made.resource = gpu_class.resource_name;
    made.selector.insert(gpu_class.node_selector.begin(),
                         gpu_class.node_selector.end());
  }
  return world;
}

MapPassResult MapPass(const MapWorld& world) {
  MapPassResult result;
  SumUp(world, result);
  CheckSets(world, result);
  for (const auto& [name, resources] : result.used) {
    const MapNode& node = world.nodes.at(name);
    for (const auto& [resource, units] : resources) {
      auto found = node.allocatable.find(resource);
      const int64_t there = found == node.allocatable.end() ? 0 : found->second;
      if (units > there) result.overbooked_nodes.push_back(name);
    }
  }
  return result;
}

}  // namespace gpubinder::bench
