#include "tools/effect_row.h"

#include <string>

#include "k8s/effect_codec.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/effect_text.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

Json EffectRow(const v1::Effect& effect) {
  const v1::Target& target = effect.target();
  return {{"kind", std::string(EffectKindName(effect))},
          {"target",
           {{"kind", target.kind()},
            {"namespace", TextOrNull(target.namespace_())},
            {"name", target.name()},
            {"uid", TextOrNull(target.uid())}}},
          {"fields", Json::parse(EffectFieldsJson(effect))}};
}

}  // namespace gpubinder
