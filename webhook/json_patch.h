// The few JSON Patch operations (RFC 6902) that the webhooks answer with: flat
// objects that are appended to a list.
//
//   JsonPatch patch;
//   patch.Append({.steps = {"spec", "schedulingGates"}, .present = 1},
//                {{{"name", "gpu.cozystack.io/claims"}}});
//   patch.Text();  // [{"op":"add","path":"/spec/schedulingGates",
//                  //   "value":[{"name":"gpu.cozystack.io/claims"}]}]

#ifndef WEBHOOK_JSON_PATCH_H_
#define WEBHOOK_JSON_PATCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

namespace gpubinder {

// An object whose fields are texts and whole numbers, in their order.
using FlatObject =
    std::vector<std::pair<std::string, std::variant<std::string, int64_t>>>;

// A list by the names that lead to it, and how much of that path is there:
// its first `present` steps lead to objects, or, when it is all of them, to a
// list that holds something. An empty list counts as absent.
struct ListPlace {
  std::vector<std::string> steps;
  size_t present = 0;
};

class JsonPatch {
 public:
  // Appends `items` in their order. A list that is absent is made in one
  // operation with the parents it lacks, but for those that an earlier call
  // has made; the items of one that is there stay where they are. Nothing
  // happens without items. At most one call for a place.
  void Append(const ListPlace& place, const std::vector<FlatObject>& items);

  bool empty() const { return operations_.empty(); }
  // The operations as a JSON list; empty when there is none.
  std::string Text() const;

 private:
  std::vector<std::string> operations_;         // JSON
  std::vector<std::vector<std::string>> made_;  // parents, by their steps
};

// A step of a JSON Pointer: '~' is "~0", '/' is "~1".
std::string EscapePointerStep(absl::string_view step);

}  // namespace gpubinder

#endif  // WEBHOOK_JSON_PATCH_H_
