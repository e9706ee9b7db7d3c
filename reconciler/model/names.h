// Names the binder computes. Each replica and the webhook compute the same name
// from the same input, which is what makes creating an object repeatable.

#ifndef RECONCILER_MODEL_NAMES_H_
#define RECONCILER_MODEL_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/decision.pb.h"

namespace gpubinder {

// <vmi>-<entry index>-<8 hex of SHA-256 of the VMI uid>, at most 63 bytes: the
// VMI's part is cut, with the '.' and '-' the cut would end in. `vmi_name` is
// a name the API server took.
std::string TemplateClaimName(absl::string_view vmi_name, int entry_index,
                              absl::string_view vmi_uid);

// The value of the template-claim label: the VMI's name, cut alike to 63.
std::string TemplateClaimLabelValue(absl::string_view vmi_name);

// gpuclaim-<entry index>-<unit index>, of an entry of the VMI's gpus.
std::string VmiGpuName(int entry_index, int unit_index);

// gpubinder-<12 hex of SHA-256 of the VMI uid>-<transition>-<reason in lower
// case>: the Event of one change of reason, a legal name of any object.
std::string WarningName(absl::string_view vmi_uid, int64_t transition,
                        v1::Reason reason);

// gpu-<claim>, of the claim's Workload.
std::string UsageRecordName(absl::string_view claim_name);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NAMES_H_
