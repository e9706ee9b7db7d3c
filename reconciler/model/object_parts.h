// The parts that several kinds share: metadata, conditions, taints,
// tolerations, selectors.

#ifndef RECONCILER_MODEL_OBJECT_PARTS_H_
#define RECONCILER_MODEL_OBJECT_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "reconciler/model/string_map.h"

namespace gpubinder {

// Why an object is malformed: a field by its path, and what is wrong with it
// (what was found and what is legal).
struct FieldProblem {
  std::string field;
  std::string message;
  bool operator==(const FieldProblem&) const = default;
};

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name_space, name, uid, resource_version;
  absl::Time created = absl::UnixEpoch();
  std::optional<absl::Time> deleting;  // deletionTimestamp
  int64_t generation = 0;
  StringMap labels, annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;
  std::vector<FieldProblem> problems;
  bool operator==(const ObjectMeta&) const = default;
};

struct Condition {
  std::string type, status, reason, message;
  int64_t observed_generation = 0;  // 0: not said
  absl::Time last_transition = absl::UnixEpoch();
  bool operator==(const Condition&) const = default;
};

// status.decision: the key into the journal.
struct DecisionKey {
  std::string journal;  // 8 hex digits
  uint64_t epoch = 0, sequence = 0;
  bool operator==(const DecisionKey&) const = default;
};

struct Taint {
  std::string key, value, effect;
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key, op, value, effect;
  std::optional<int64_t> seconds;
  bool operator==(const Toleration&) const = default;
};

// matchExpressions and matchFields. `op` is the API's word.
struct Requirement {
  std::string key, op;
  std::vector<std::string> values;
  bool operator==(const Requirement&) const = default;
};
struct SelectorTerm {
  std::vector<Requirement> expressions, fields;
  bool empty() const { return expressions.empty() && fields.empty(); }
  bool operator==(const SelectorTerm&) const = default;
};
// Required node affinity; terms are ORed, no term matches nothing.
struct NodeSelector {
  std::vector<SelectorTerm> terms;
  bool operator==(const NodeSelector&) const = default;
};

// A resource list as it was written. Quantities are read by quantity.h.
using ResourceList = StringMap;

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_OBJECT_PARTS_H_
