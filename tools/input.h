// The objects that people hand to a subcommand with -f, as a cluster has them.
//
// Lists, and typed lists such as NodeList, are taken apart. An object that the
// API server would not take for its very shape (no kind, no name, metadata
// that is no object), or a kind that our API group does not have, is an error
// of the whole input, with its place. A wrong
// field deeper down makes only that object malformed, as in a cluster.

#ifndef TOOLS_INPUT_H_
#define TOOLS_INPUT_H_

#include <array>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reconciler/model/kind.h"
#include "reconciler/model/objects.h"
#include "tools/text_files.h"

namespace gpubinder {

struct InputObject {
  std::string where;  // "a.yaml, document 2, item 3"
  Object object;      // meta.name_space is set as the kind wants it
  std::string json;   // as it was read
};

struct Input {
  // Of modelled kinds, sorted by kind, namespace and name.
  std::vector<InputObject> objects;
  // Core kinds and our own always; others when a CRD or an object is there.
  std::array<bool, kKinds> served{};
  // Kinds that are not modelled, with how many objects were passed over.
  std::map<std::string, int> skipped;
};

// Objects of namespaced kinds without namespace are put into
// `default_namespace`; the namespace of others is dropped. kInvalidArgument:
// one message that names the place, the object and the field. O(size x log).
absl::StatusOr<Input> ObjectsOf(const std::vector<InputText>& texts,
                                const std::string& default_namespace);

// "skipped 3 objects of kinds that are not modelled: ConfigMap 2, Event 1";
// empty when none was.
std::string SkippedText(const Input& input);

}  // namespace gpubinder

#endif  // TOOLS_INPUT_H_
