// One effect as `plan` and `admit` print it.

#ifndef TOOLS_EFFECT_ROW_H_
#define TOOLS_EFFECT_ROW_H_

#include "nlohmann/json_fwd.hpp"
#include "proto/decision.pb.h"

namespace gpubinder {

// {kind, target: {kind, namespace, name, uid}, fields}.
nlohmann::ordered_json EffectRow(const v1::Effect& effect);

}  // namespace gpubinder

#endif  // TOOLS_EFFECT_ROW_H_
