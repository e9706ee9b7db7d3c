// JSON of the API to the structs of reconciler/model/objects.h, and the
// claims annotation.
//
//   absl::StatusOr<Object> object = DecodeObject(Kind::kPod, json);
//   if (!object.ok()) ...                        // that is no JSON object
//   if (!MetaOf(*object).problems.empty()) ...   // malformed, and it says why
//
// Decoding is tolerant: unknown fields are ignored, null is absent, and a
// field of a wrong type keeps its default and is named in meta.problems
// ("spec.count", "found the text \"two\", want a whole number"). Filtered
// (object_filter.h) and unfiltered text decode alike: what the filter removes
// is not read. Pure, and thread-safe: each thread keeps parsers of its own.

#ifndef K8S_OBJECT_CODEC_H_
#define K8S_OBJECT_CODEC_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "k8s/json_value.h"
#include "reconciler/model/kind.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

// The object of `kind` in `json`. Its apiVersion and kind are not looked at:
// the items of a list have none. O(size of the text). kInvalidArgument: not
// one JSON object.
absl::StatusOr<Object> DecodeObject(Kind kind, absl::string_view json);
// The same of a part of a document: `json` is an object. The result stands by
// itself.
Object DecodeObject(Kind kind, JsonValue json);

// An object of any kind, for input that people wrote.
struct AnyObject {
  std::string api_version, kind, name_space, name;
  // None: a kind that is not modelled, or a ConfigMap that is not ours.
  std::optional<Object> object;
  // Of a CustomResourceDefinition: the modelled kind that it makes served.
  std::optional<Kind> defines;
};
// Finds the kind in `json` by apiVersion and kind. An object is modelled only
// in its own group (a VirtualMachine of another group is not).
// kInvalidArgument: not one JSON object, or no apiVersion or kind.
absl::StatusOr<AnyObject> DecodeAnyObject(absl::string_view json);

// The value of the annotation kClaimsKey. `present` is always set; an error
// names the entry by its index from 0, as names of template claims do:
// "entry 2: ...".
ClaimsAnnotation ParseClaimsAnnotation(absl::string_view text);

}  // namespace gpubinder

#endif  // K8S_OBJECT_CODEC_H_
