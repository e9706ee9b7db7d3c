#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "k8s/json_value.h"

namespace gpubinder {

PathTree::PathTree(std::initializer_list<absl::string_view> paths) {
  for (absl::string_view path : paths) Add(path);
}

void PathTree::Add(absl::string_view path) {
  PathTree* tree = this;
  for (absl::string_view step : absl::StrSplit(path, '>')) {
    PathTree* next = nullptr;
    for (PathTree& child : tree->below_) {
      if (child.name_ == step) next = &child;
    }
    if (next == nullptr) {
      tree->below_.push_back(PathTree());
      next = &tree->below_.back();
      next->name_ = std::string(step);
    }
    tree = next;
  }
}

const PathTree* PathTree::Below(absl::string_view name) const {
  for (const PathTree& child : below_) {
    if (child.name_ == name) return &child;
  }
  return nullptr;
}

}  // namespace gpubinder
