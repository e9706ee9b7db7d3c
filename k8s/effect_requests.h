// Each effect's request. Inside the effect codec only: nothing is checked here.

#ifndef K8S_EFFECT_REQUESTS_H_
#define K8S_EFFECT_REQUESTS_H_

#include "absl/strings/string_view.h"
#include "k8s/api_client.h"
#include "k8s/effect_codec.h"
#include "nlohmann/json_fwd.hpp"
#include "proto/decision.pb.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

inline constexpr char kGpuApiVersion[] = "gpu.cozystack.io/v1alpha1";

// effect_request_parts.cc

// Where objects of the target's kind are; an empty plural for a kind that is
// not written.
ResourcePath CollectionOf(const v1::Target& target);
EffectRequest CreateRequest(const v1::Target& target,
                            const nlohmann::json& body);
// Adds uid and version to `body`.
EffectRequest MergePatch(const v1::Target& target,
                         absl::string_view subresource, nlohmann::json body);
EffectRequest StatusPatch(const v1::Target& target, nlohmann::json status);
EffectRequest JsonPatchRequest(const v1::Target& target,
                               absl::string_view subresource,
                               const nlohmann::json& operations);
EffectRequest DeleteRequest(const v1::Target& target);
// The list of the one owner.
nlohmann::json OwnerReferences(const v1::OwnerReference& owner);

// effect_requests_gpu.cc: claims, classes and sets.
EffectRequest CreateClaimRequest(const v1::Effect& effect);
EffectRequest BindClaimRequest(const v1::Effect& effect,
                               const DecisionKey& key);
EffectRequest LoseClaimRequest(const v1::Effect& effect,
                               const DecisionKey& key);
EffectRequest RecordRejectionRequest(const v1::Effect& effect);
EffectRequest AttachClaimRequest(const v1::Effect& effect);
EffectRequest ReleaseClaimRequest(const v1::Effect& effect);
EffectRequest SetConditionRequest(const v1::Effect& effect);
// The two halves of WriteClaimSet: what status is not, and status. The first
// creates the set when the target has no uid. Whether there is such a half:
bool HasClaimSetSpec(const v1::Effect& effect);
bool HasClaimSetStatus(const v1::Effect& effect);
EffectRequest ClaimSetSpecRequest(const v1::Effect& effect);
EffectRequest ClaimSetStatusRequest(const v1::Effect& effect,
                                    const DecisionKey& key);

// effect_requests_core.cc: everybody else's objects.
EffectRequest PinPodRequest(const v1::Effect& effect);
EffectRequest RestartVmRequest(const v1::Effect& effect);
EffectRequest EmitWarningRequest(const v1::Effect& effect);
EffectRequest WriteUsageRecordRequest(const v1::Effect& effect);
EffectRequest AddFinalizerRequest(const v1::Effect& effect);
EffectRequest RemoveFinalizerRequest(const v1::Effect& effect);
EffectRequest WriteSettingsRequest(const v1::Effect& effect);

}  // namespace gpubinder

#endif  // K8S_EFFECT_REQUESTS_H_
