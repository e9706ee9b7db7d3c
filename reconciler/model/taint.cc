#include "reconciler/model/taint.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {
namespace {

bool Blocks(const Taint& taint, TaintScope scope) {
  return (taint.effect == "NoExecute" ||
          (taint.effect == "NoSchedule" && scope == TaintScope::kScheduling)) &&
         !IsConditionTaint(taint);
}

bool IsUntolerated(const Taint& taint, absl::Span<const Toleration> tolerations,
                   TaintScope scope) {
  return Blocks(taint, scope) &&
         std::none_of(tolerations.begin(), tolerations.end(),
                      [&](const Toleration& toleration) {
                        return Tolerates(toleration, taint);
                      });
}

absl::string_view Operator(const Toleration& toleration) {
  return toleration.op.empty() ? absl::string_view("Equal") : toleration.op;
}

bool SameMeaning(const Toleration& a, const Toleration& b) {
  return a.key == b.key && Operator(a) == Operator(b) && a.value == b.value &&
         a.effect == b.effect && a.seconds == b.seconds;
}

bool Has(absl::Span<const Toleration> tolerations, const Toleration& wanted) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& toleration) {
                       return SameMeaning(toleration, wanted);
                     });
}

}  // namespace

bool IsConditionTaint(const Taint& taint) {
  return taint.key == kTaintNotReady || taint.key == kTaintUnreachable ||
         taint.key == kTaintUnschedulable;
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) {
    return false;
  }
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  // With an empty key too: only Exists makes that one match every taint.
  return Operator(toleration) == "Equal" && toleration.value == taint.value;
}

std::vector<const Taint*> AllUntolerated(
    absl::Span<const Taint> taints, absl::Span<const Toleration> tolerations,
    TaintScope scope) {
  std::vector<const Taint*> untolerated;
  for (const Taint& taint : taints) {
    if (IsUntolerated(taint, tolerations, scope)) {
      untolerated.push_back(&taint);
    }
  }
  return untolerated;
}

const Taint* FirstUntolerated(absl::Span<const Taint> taints,
                              absl::Span<const Toleration> tolerations,
                              TaintScope scope) {
  for (const Taint& taint : taints) {
    if (IsUntolerated(taint, tolerations, scope)) return &taint;
  }
  return nullptr;
}

std::string TaintText(const Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value,
                      ":", taint.effect);
}

std::vector<Toleration> MissingTolerations(absl::Span<const Toleration> have,
                                           absl::Span<const Toleration> want) {
  std::vector<Toleration> missing;
  for (const Toleration& toleration : want) {
    if (!Has(have, toleration) && !Has(missing, toleration)) {
      missing.push_back(toleration);
    }
  }
  return missing;
}

}  // namespace gpubinder
