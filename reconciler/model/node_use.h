// What one node has of one resource.

#ifndef RECONCILER_MODEL_NODE_USE_H_
#define RECONCILER_MODEL_NODE_USE_H_

#include <cstdint>
#include <utility>

#include "reconciler/model/name_table.h"

namespace gpubinder {

using NodeAndResource = std::pair<NameId, NameId>;

struct NodeUse {
  int64_t allocatable = 0;
  int64_t booked = 0;
  int64_t raw = 0;
  bool served = false;     // allocatable names the resource, above 0
  bool malformed = false;  // allocatable cannot be used

  // Never below 0 and never wrapped.
  int64_t free() const;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NODE_USE_H_
