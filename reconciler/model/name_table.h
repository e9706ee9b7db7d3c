// Names as numbers: each text once, its number for ever. Columns and books
// hold the numbers. Numbers follow the order of arrival, so nothing that is
// printed or decided may be sorted by them; compare the texts.

#ifndef RECONCILER_MODEL_NAME_TABLE_H_
#define RECONCILER_MODEL_NAME_TABLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "reconciler/model/text_index.h"

namespace gpubinder {

using NameId = uint32_t;
inline constexpr NameId kNoName = 0;  // the empty text

class NameTable {
 public:
  NameTable() { Intern(""); }

  // O(log names).
  NameId Intern(absl::string_view text) {
    const uint64_t hash = HashOfTexts(text, "");
    const std::optional<NameId> found = FindHashed(hash, text);
    if (found.has_value()) return *found;
    const NameId id = static_cast<NameId>(texts_.size());
    texts_.emplace_back(text);
    ids_.Insert(hash, id);
    return id;
  }
  std::optional<NameId> Find(absl::string_view text) const {
    return FindHashed(HashOfTexts(text, ""), text);
  }
  const std::string& Text(NameId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::optional<NameId> FindHashed(uint64_t hash,
                                   absl::string_view text) const {
    return ids_.Find(hash, [&](NameId id) { return texts_[id] == text; });
  }

  std::deque<std::string> texts_;
  TextIndex ids_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_NAME_TABLE_H_
