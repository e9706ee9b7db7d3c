// A full pass as one would write it first: objects in maps by their names,
// and every question a look-up by text. It is the peer that shows what the
// model's data layout is worth; it knows far fewer rules than the model.

#ifndef TOOLS_BENCH_MAP_PASS_H_
#define TOOLS_BENCH_MAP_PASS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/snapshot.h"

namespace gpubinder::bench {

struct MapClaim {
  std::string tenant, set, class_name, node, phase;
  int64_t units = 0;
};
struct MapNode {
  std::map<std::string, int64_t> allocatable;
  std::map<std::string, std::string> labels;
  bool schedulable = true;
};
struct MapClass {
  std::string resource;
  std::map<std::string, std::string> selector;
};

struct MapWorld {
  std::map<std::string, MapClaim> claims;  // by namespace/name
  std::map<std::string, MapNode> nodes;
  std::map<std::string, MapClass> classes;
};

MapWorld MapWorldOf(const Snapshot& snapshot);

struct MapPassResult {
  std::map<std::string, std::map<std::string, int64_t>> used;  // node, resource
  std::map<std::string, std::map<std::string, int64_t>> ordered;  // by tenant
  std::vector<std::string> split_sets, unserved_sets, overbooked_nodes;
};

// Sums the use of nodes and of tenants, finds sets that are split or on a node
// that does not serve them, and nodes that are overbooked.
MapPassResult MapPass(const MapWorld& world);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_MAP_PASS_H_
