// Texts by text, as labels and quantities are: a sorted vector with the face
// of a map. An object has a dozen of these with a few entries each, and a tree
// would give each of them nodes to get, to compare and to free.

#ifndef RECONCILER_MODEL_STRING_MAP_H_
#define RECONCILER_MODEL_STRING_MAP_H_

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/check.h"

namespace gpubinder {

// Iterators end with the next change. A key that is added in the order of keys
// costs O(1), any other O(entries); a look-up is O(log entries).
class StringMap {
 public:
  using value_type = std::pair<std::string, std::string>;
  using const_iterator = std::vector<value_type>::const_iterator;
  using iterator = const_iterator;

  StringMap() = default;
  StringMap(std::initializer_list<value_type> entries) {
    insert(entries.begin(), entries.end());
  }

  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }

  const_iterator find(absl::string_view key) const {
    const const_iterator at = LowerBound(key);
    return at != end() && at->first == key ? at : end();
  }
  bool contains(absl::string_view key) const { return find(key) != end(); }
  // The key is there.
  const std::string& at(absl::string_view key) const {
    const const_iterator found = find(key);
    BINDER_CHECK(found != end());
    return found->second;
  }
  // Added with an empty text when it is not there. Valid until the next change.
  std::string& operator[](absl::string_view key) {
    const auto [at, is_there] = Place(key);
    if (is_there) return at->second;
    return entries_.emplace(at, std::string(key), std::string())->second;
  }
  // Keys that are there already keep their text.
  void emplace(absl::string_view key, absl::string_view value) {
    const auto [at, is_there] = Place(key);
    if (!is_there) entries_.emplace(at, std::string(key), std::string(value));
  }
  template <typename It>
  void insert(It first, It last) {
    for (; first != last; ++first) emplace(first->first, first->second);
  }
  void insert_or_assign(absl::string_view key, absl::string_view value) {
    const auto [at, is_there] = Place(key);
    if (is_there) {
      at->second.assign(value.data(), value.size());
    } else {
      entries_.emplace(at, std::string(key), std::string(value));
    }
  }
  // Adds all, in whatever order; the last text of a key stays. In the order of
  // keys O(entries), else O(entries x log entries).
  void InsertOrAssign(std::vector<value_type> entries) {
    if (entries_.empty()) {
      entries_ = std::move(entries);
    } else {
      std::move(entries.begin(), entries.end(), std::back_inserter(entries_));
    }
    const auto disorder = [](const value_type& a, const value_type& b) {
      return !(a.first < b.first);
    };
    if (std::adjacent_find(begin(), end(), disorder) != end()) Sort();
  }
  size_t erase(absl::string_view key) {
    const auto [at, is_there] = Place(key);
    if (is_there) entries_.erase(at);
    return is_there ? 1 : 0;
  }

  bool operator==(const StringMap&) const = default;

 private:
  const_iterator LowerBound(absl::string_view key) const {
    return std::lower_bound(
        entries_.begin(), entries_.end(), key,
        [](const value_type& entry, absl::string_view wanted) {
          return entry.first < wanted;
        });
  }
  // Where the key is, or belongs.
  std::pair<std::vector<value_type>::iterator, bool> Place(
      absl::string_view key) {
    if (entries_.empty() || entries_.back().first < key) {
      return {entries_.end(), false};
    }
    const auto at = entries_.begin() + (LowerBound(key) - entries_.cbegin());
    return {at, at->first == key};
  }

  void Sort() {
    const auto before = [](const value_type& a, const value_type& b) {
      return a.first < b.first;
    };
    if (entries_.size() <= kFew) {
      for (auto at = entries_.begin(); at != entries_.end(); ++at) {
        std::rotate(std::upper_bound(entries_.begin(), at, *at, before), at,
                    at + 1);
      }
    } else {
      std::stable_sort(entries_.begin(), entries_.end(), before);
    }
    // From the back, where the last of each key comes first.
    const auto kept = std::unique(entries_.rbegin(), entries_.rend(),
                                  [](const value_type& a, const value_type& b) {
                                    return a.first == b.first;
                                  });
    entries_.erase(entries_.begin(), kept.base());
  }

  // So many are sorted where they are, without a buffer.
  static constexpr size_t kFew = 32;

  std::vector<value_type> entries_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_STRING_MAP_H_
