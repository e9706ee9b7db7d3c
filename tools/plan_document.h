// The document of `gpubinder plan -o json`: README.md describes its fields.

#ifndef TOOLS_PLAN_DOCUMENT_H_
#define TOOLS_PLAN_DOCUMENT_H_

#include <memory>
#include <ostream>

#include "absl/functional/function_ref.h"
#include "nlohmann/json_fwd.hpp"
#include "tools/plan_run.h"

namespace gpubinder {

enum class PlanSection {
  kClaims,
  kSets,
  kNodes,
  kBudgets,
  kEffects,
  kMalformed
};

class PlanDocument {
 public:
  // `run` outlives this. O(objects).
  explicit PlanDocument(const PlanRun& run);
  ~PlanDocument();

  // The rows of a list in their order, one at a time: together they may be
  // larger than memory. Those of sets are without their `nodes`.
  void ForEachRow(
      PlanSection section,
      absl::FunctionRef<void(const nlohmann::ordered_json& row)> visit) const;

  // The whole. O(objects + sets x nodes).
  void WriteJson(std::ostream& out) const;
  void WriteYaml(std::ostream& out) const;

  // Whether a set has a member without a place, or a launcher at the gate.
  bool AnySetWaits() const;

 private:
  class Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace gpubinder

#endif  // TOOLS_PLAN_DOCUMENT_H_
