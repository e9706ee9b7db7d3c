#include "k8s/embedded/quota.h"

#include "absl/strings/str_cat.h"
#include "k8s/embedded/json_value.h"
#include "k8s/embedded/quantity_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

// What a pod uses, by the keys of ResourceQuota.spec.hard.
Amounts UseOf(const Json& pod) {
  Amounts use = {{"pods", 1000}};
  for (const auto& [name, amount] : PodAmounts(pod, "requests")) {
    use["requests." + name] = amount;
    if (name == "cpu" || name == "memory") use[name] = amount;
  }
  for (const auto& [name, amount] : PodAmounts(pod, "limits")) {
    if (name == "cpu" || name == "memory") use["limits." + name] = amount;
  }
  return use;
}

void Append(std::string& text, const std::string& key, absl::int128 amount) {
  absl::StrAppend(&text, text.empty() ? "" : ",", key, "=", MilliText(amount));
}

}  // namespace

std::optional<std::string> QuotaRefusal(const std::vector<JsonPtr>& quotas,
                                        const std::vector<JsonPtr>& pods,
                                        const Json& pod) {
  if (quotas.empty()) return std::nullopt;
  Amounts used;
  for (const JsonPtr& other : pods) {
    const std::string phase = TextAt(*other, {"status", "phase"});
    if (phase != "Succeeded" && phase != "Failed") AddTo(used, UseOf(*other));
  }
  const Amounts wanted = UseOf(pod);
  for (const JsonPtr& quota : quotas) {
    std::string requested, before, limited;
    for (const auto& [key, hard] : AmountsOf(At(*quota, {"spec", "hard"}))) {
      const auto want = wanted.find(key);
      if (want == wanted.end() || used[key] + want->second <= hard) continue;
      Append(requested, key, want->second);
      Append(before, key, used[key]);
      Append(limited, key, hard);
    }
    if (requested.empty()) continue;
    return absl::StrCat(
        "exceeded quota: ", TextAt(*quota, {"metadata", "name"}),
        ", requested: ", requested, ", used: ", before, ", limited: ", limited);
  }
  return std::nullopt;
}

}  // namespace gpubinder::embedded
