#include "reconciler/model/start_problems.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gpubinder {
namespace {

v1::ReasonDetail Detail(v1::Reason reason, std::string text) {
  v1::ReasonDetail detail;
  detail.set_reason(reason);
  detail.set_text(std::move(text));
  return detail;
}

// Claims that stand there booked under the resource their class had before it
// was made anew: what the pod asks for is booked for nobody (C2).
void CheckResources(const ClaimSet& set, const Plan& plan,
                    std::vector<v1::ReasonDetail>& problems) {
  const Snapshot& snapshot = plan.snapshot();
  for (const Row row : set.members) {
    const GpuClaim& claim = plan.claim(row);
    const GpuClass* found = snapshot.classes().Find("", claim.class_name);
    const bool stands = plan.phase(row) == Phase::kBound &&
                        plan.node(row) == snapshot.claim_columns.node[row];
    if (!stands || found == nullptr || claim.resource_name.empty() ||
        claim.resource_name == found->resource_name) {
      continue;
    }
    problems.push_back(
        Detail(v1::INVALID_CLAIMS,
               absl::StrCat("claim ", claim.meta.name, " holds ",
                            claim.resource_name, ", its class ",
                            claim.class_name, " is of ", found->resource_name,
                            " now: delete the claim and order it anew")));
  }
}

}  // namespace

std::vector<v1::ReasonDetail> StartProblems(const ClaimSet& set,
                                            const Demand& demand,
                                            const Plan& plan) {
  std::vector<v1::ReasonDetail> problems = set.problems;
  problems.insert(problems.end(), set.start_problems.begin(),
                  set.start_problems.end());
  const Pod& pod = *demand.pod;
  if (!pod.meta.problems.empty()) {
    problems.push_back(MalformedDetail(Kind::kPod, pod.meta));
  }
  // These stop orders and new template claims, not the start of a set that is
  // booked.
  const bool orders =
      !set.missing.empty() ||
      std::any_of(set.members.begin(), set.members.end(),
                  [&](Row row) { return plan.phase(row) == Phase::kPending; });
  if (orders) {
    problems.insert(problems.end(), set.order_problems.begin(),
                    set.order_problems.end());
  }
  CheckResources(set, plan, problems);
  for (const Demand::Need& need : demand.needs) {
    if (need.pod_units >= need.units) continue;
    problems.push_back(AsksForLess(pod,
                                   plan.snapshot().names.Text(need.resource),
                                   need.pod_units, need.units));
  }
  auto refused = plan.snapshot().refused_pins.find(pod.meta.uid);
  if (refused != plan.snapshot().refused_pins.end() &&
      refused->second.resource_version == pod.meta.resource_version) {
    problems.push_back(
        Detail(v1::START_REFUSED_BY_API, refused->second.message));
  }
  if (plan.snapshot().IsTerminating(set.name_space)) {
    problems.push_back(Detail(
        v1::START_REFUSED_BY_API,
        absl::StrCat("namespace ", set.name_space, " is being deleted")));
  }
  return problems;
}

v1::ReasonDetail AsksForLess(const Pod& pod, const std::string& resource,
                             int64_t pod_units, int64_t ordered) {
  return Detail(v1::INVALID_CLAIMS,
                absl::StrCat("pod ", pod.meta.name, " asks for ", pod_units,
                             " of ", resource, ", its claims order ", ordered));
}

}  // namespace gpubinder
