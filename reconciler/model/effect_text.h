// What an effect is called where people read of it.

#ifndef RECONCILER_MODEL_EFFECT_TEXT_H_
#define RECONCILER_MODEL_EFFECT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"

namespace gpubinder {

// "BindClaim"; empty for an effect without a write.
absl::string_view EffectKindName(const v1::Effect& effect);

// "t/web-gpu", or "h100" of what has no namespace.
std::string TargetText(const v1::Target& target);

// "BindClaim of GPUClaim t/web-gpu".
std::string WriteText(const v1::Effect& effect);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_EFFECT_TEXT_H_
