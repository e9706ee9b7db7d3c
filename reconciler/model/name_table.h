// Names as numbers: each text once, its number for ever. Columns and books
// hold the numbers. Numbers follow the order of arrival, so nothing that is
// printed or decided may be sorted by them; compare the texts.

#ifndef RECONCILER_MODEL_NAME_TABLE_H_
#define RECONCILER_MODEL_NAME_TABLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

using NameId = uint32_t;
inline constexpr NameId kNoName = 0;  // the empty text

class NameTable {
 public:
  NameTable() { Intern(""); }

  // O(log names).
  NameId Intern(absl::string_view text) {
    auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const NameId id = static_cast<NameId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(std::string(text), id);
    return id;
  }
  std::optional<NameId> Find(absl::string_view text) const {
    auto found = ids_.find(text);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }
  const std::string& Text(NameId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  absl::btree_map<std::string, NameId> ids_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NAME_TABLE_H_
