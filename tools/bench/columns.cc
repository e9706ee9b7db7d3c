#include "tools/bench/columns.h"

#include <vector>

namespace gpubinder::bench {
namespace {

template <typename T>
uint64_t SumOf(const std::vector<T>& column) {
  uint64_t sum = 0;
  for (const T& value : column) sum += static_cast<uint64_t>(value);
  return sum;
}

template <typename T>
int64_t BytesOf(const std::vector<T>& column) {
  return static_cast<int64_t>(column.size() * sizeof(T));
}

}  // namespace

uint64_t SumColumns(const Snapshot& snapshot) {
  const ClaimColumns& claims = snapshot.claim_columns;
  uint64_t sum = SumOf(claims.phase) + SumOf(claims.node) +
                 SumOf(claims.resource) + SumOf(claims.class_name) +
                 SumOf(claims.units) + SumOf(snapshot.node_columns.name);
  for (const auto& resources : snapshot.node_columns.resources) {
    for (const NodeResource& resource : resources) {
      sum += resource.resource + static_cast<uint64_t>(resource.allocatable);
    }
  }
  return sum;
}

int64_t ColumnBytes(const Snapshot& snapshot) {
  const ClaimColumns& claims = snapshot.claim_columns;
  int64_t bytes = BytesOf(claims.phase) + BytesOf(claims.node) +
                  BytesOf(claims.resource) + BytesOf(claims.class_name) +
                  BytesOf(claims.units) + BytesOf(snapshot.node_columns.name);
  for (const auto& resources : snapshot.node_columns.resources) {
    bytes += BytesOf(resources);
  }
  return bytes;
}

int64_t BookedUnits(const Snapshot& snapshot) {
  const ClaimColumns& claims = snapshot.claim_columns;
  int64_t units = 0;
  for (size_t row = 0; row < claims.phase.size(); ++row) {
    if (claims.phase[row] == Phase::kBound) units += claims.units[row];
  }
  return units;
}

}  // namespace gpubinder::bench
