// Effects to requests of the API, and to the words of `plan -o json`.
//
//   std::string answer;
//   for (int done = 0;; ++done) {
//     absl::StatusOr<std::optional<EffectRequest>> request =
//         NextRequest(effect, key, done, answer);
//     if (!request.ok()) ...;                    // a bug of the pass
//     if (!request->has_value()) break;          // all of it is written
//     answer = ...send it...;
//   }
//
// Every patch and delete carries the uid and the version that the effect was
// decided on, so a lost race is 409 Conflict; a failed `test` of a JSON Patch
// is 422. Lists of others' making (finalizers, tolerations, terms, gates) are
// never replaced: JSON Patch adds to them or takes one entry out. Conditions
// and rejections are written whole, from the list that the effect carries.

#ifndef K8S_EFFECT_CODEC_H_
#define K8S_EFFECT_CODEC_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "k8s/api_client.h"
#include "proto/decision.pb.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

struct EffectRequest {
  enum class Verb { kCreate, kPatch, kDelete };
  Verb verb = Verb::kCreate;
  ResourcePath path;                         // of a create: the collection
  PatchType patch_type = PatchType::kMerge;  // of a patch
  std::string body;                          // JSON
};

// The request that follows when `done` requests of the effect have been
// applied, the last of them answered by the object `answer`; nothing when the
// effect is complete. One request does it for each kind but WriteClaimSet,
// because status is a subresource: a new set is created and then gets its
// status; of one that exists the status is written first, so that a set never
// shows a new owner beside the old owner's memory. A crash between the two
// leaves what the next pass completes.
//
// Where an earlier effect of the pass has written the same object, the caller
// puts the version it was answered into target.resource_version first.
//
// `key` becomes status.decision where the placement changes. Pure.
// kInternal: the effect lacks what its kind needs (a precondition, the list to
// write). kDataLoss: `answer` is no object with uid and version.
absl::StatusOr<std::optional<EffectRequest>> NextRequest(
    const v1::Effect& effect, const DecisionKey& key, int done,
    absl::string_view answer);

// The object `fields` of an effect in `plan -o json`, as documented.
std::string EffectFieldsJson(const v1::Effect& effect);

}  // namespace gpubinder

#endif  // K8S_EFFECT_CODEC_H_
