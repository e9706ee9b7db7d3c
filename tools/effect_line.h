// One line for each effect that a person would want to see happen.

#ifndef TOOLS_EFFECT_LINE_H_
#define TOOLS_EFFECT_LINE_H_

#include <optional>
#include <string>

#include "proto/decision.pb.h"

namespace gpubinder {

// "bind     tenant-a/web-gpu -> gpu-1"; nothing for book-keeping (conditions,
// finalizers, memories, attachments).
std::optional<std::string> EffectLine(const v1::Effect& effect);

}  // namespace gpubinder

#endif  // TOOLS_EFFECT_LINE_H_
