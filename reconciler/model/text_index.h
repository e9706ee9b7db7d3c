// Finds numbers by texts that are kept elsewhere: rows by uid, ids by name.
//
// An ordered set of the texts' hashes, not a tree of the texts: a look-up
// compares integers that lie side by side, and then one text. What is equal in
// hash costs time and nothing else, and nothing can be visited in the order of
// hashes, so no decision depends on them. The hash is a keyed one, since names
// are what tenants choose.

#ifndef RECONCILER_MODEL_TEXT_INDEX_H_
#define RECONCILER_MODEL_TEXT_INDEX_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

// SipHash-1-3 with a fixed key of both texts, one after the other.
uint64_t HashOfTexts(absl::string_view first, absl::string_view second);

class TextIndex {
 public:
  // The number with that hash for which is_it(number) holds, the text's own.
  // O(log numbers).
  template <typename IsIt>
  std::optional<uint32_t> Find(uint64_t hash, IsIt is_it) const {
    for (auto it = numbers_.lower_bound({hash, 0});
         it != numbers_.end() && it->first == hash; ++it) {
      if (is_it(it->second)) return it->second;
    }
    return std::nullopt;
  }
  void Insert(uint64_t hash, uint32_t number) {
    numbers_.insert({hash, number});
  }
  // Nothing happens when it is not there.
  void Erase(uint64_t hash, uint32_t number) { numbers_.erase({hash, number}); }

 private:
  absl::btree_set<std::pair<uint64_t, uint32_t>> numbers_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TEXT_INDEX_H_
