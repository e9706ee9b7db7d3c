#include "tools/effect_line.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "reconciler/model/reason.h"

namespace gpubinder {
namespace {

std::string Line(absl::string_view verb, const v1::Effect& effect,
                 const std::string& rest) {
  return absl::StrFormat("%-8s %s/%s%s", verb, effect.target().namespace_(),
                         effect.target().name(), rest);
}

}  // namespace

std::optional<std::string> EffectLine(const v1::Effect& effect) {
  switch (effect.write_case()) {
    case v1::Effect::kCreateTemplateClaim:
      return Line("order", effect,
                  absl::StrCat(": ", effect.create_template_claim().count(),
                               " of class ",
                               effect.create_template_claim().class_name()));
    case v1::Effect::kBindClaim:
      return Line("bind", effect,
                  absl::StrCat(" -> ", effect.bind_claim().node_name()));
    case v1::Effect::kLoseClaim:
      return Line("lose", effect,
                  absl::StrCat(": ", ReasonName(effect.lose_claim().reason())));
    case v1::Effect::kPinPod:
      return Line("pin", effect,
                  absl::StrCat(" -> ", effect.pin_pod().node_name()));
    case v1::Effect::kRecordRejection:
      if (effect.target().kind() != "GPUClaimSet") return std::nullopt;
      return Line(
          "refused", effect,
          absl::StrCat(" by ", effect.record_rejection().entry().node_name(),
                       ": ", effect.record_rejection().entry().reason()));
    case v1::Effect::kDeletePod:
      return Line("delete", effect, " (pod)");
    case v1::Effect::kDeleteVmi:
      return Line("delete", effect, " (VMI)");
    case v1::Effect::kRestartVm:
      return Line("restart", effect, " (VM)");
    case v1::Effect::kEmitWarning:
      return Line("waits", effect,
                  absl::StrCat(": ", effect.emit_warning().note()));
    default:
      return std::nullopt;
  }
}

}  // namespace gpubinder
