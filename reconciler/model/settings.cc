#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_join.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/steps.h"
#include "reconciler/model/write_rate.h"

namespace gpubinder {
namespace {

constexpr char kResourceNames[] = "resourceNames";
constexpr char kRawResourceNames[] = "rawResourceNames";

// Of every class, and those that no class has.
std::string ResourceNames(const Plan& plan) {
  const std::vector<std::string>& extra = plan.config().extra_resource_names;
  absl::btree_set<std::string> names(extra.begin(), extra.end());
  for (const auto& [key, row] : plan.snapshot().classes().by_name()) {
    names.insert(plan.snapshot().classes()[row].resource_name);
  }
  names.erase("");
  return absl::StrJoin(names, ",");
}

}  // namespace

void KeepSettings(Plan& plan) {
  const Snapshot& snapshot = plan.snapshot();
  if (!snapshot.MayWrite(Kind::kConfigMap)) return;
  const std::string& name_space = plan.config().name_space;
  const ConfigMap* there =
      snapshot.Of<ConfigMap>().Find(name_space, kSettingsName);
  const StringMap wanted = {
      {kResourceNames, ResourceNames(plan)},
      {kRawResourceNames,
       plan.config().raw_resource_names_allowed ? "allowed" : "denied"}};
  if (there != nullptr &&
      (there->data == wanted || there->meta.deleting.has_value() ||
       plan.IsWritten(there->meta.uid))) {
    return;
  }
  if (plan.IsWritten(WrittenObject(KindName(Kind::kConfigMap), name_space,
                                   kSettingsName)) ||
      (there == nullptr && snapshot.IsTerminating(name_space))) {
    return;
  }
  v1::Effect effect = there != nullptr
                          ? EffectOn(Kind::kConfigMap, there->meta)
                          : EffectCreating(KindName(Kind::kConfigMap),
                                           name_space, kSettingsName);
  v1::WriteSettings& write = *effect.mutable_write_settings();
  write.set_resource_names(wanted.at(kResourceNames));
  write.set_raw_resource_names(wanted.at(kRawResourceNames));
  if (there != nullptr) {
    for (const auto& [key, value] : there->data) {
      if (!wanted.contains(key)) write.add_remove_keys(key);
    }
  }
  plan.AddAlone(std::move(effect));
}

}  // namespace gpubinder
