#include "reconciler/model/effect_text.h"

#include <google/protobuf/descriptor.h>

#include "absl/strings/str_cat.h"

namespace gpubinder {

absl::string_view EffectKindName(const v1::Effect& effect) {
  const auto* write =
      v1::Effect::descriptor()->FindFieldByNumber(effect.write_case());
  if (write == nullptr) return "";
  return write->message_type()->name();
}

std::string TargetText(const v1::Target& target) {
  if (target.namespace_().empty()) return target.name();
  return absl::StrCat(target.namespace_(), "/", target.name());
}

std::string WriteText(const v1::Effect& effect) {
  return absl::StrCat(EffectKindName(effect), " of ", effect.target().kind(),
                      " ", TargetText(effect.target()));
}

}  // namespace gpubinder
