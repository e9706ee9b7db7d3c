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
#include "absl/types/span.h"
#include "proto/check.h"

namespace gpubinder {

// Iterators end with the next change. A key that is added in the order of keys
// costs O(1), any other O(entries); a look-up is O(log entries).
class StringMap {
 public:
  using value_type = std::pair<std::string, std::string>;
  using View = std::pair<absl::string_view, absl::string_view>;
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
  // Adds all, in whatever order; the last text of a key stays. Sorts and
  // shortens what it is given, which is cheaper to move than texts are. In the
  // order of keys O(entries), else O(entries x log entries).
  void InsertOrAssign(absl::Span<View> added) {
    const auto disorder = [](const View& a, const View& b) {
      return !(a.first < b.first);
    };
    if (std::adjacent_find(added.begin(), added.end(), disorder) !=
        added.end()) {
      added = Sorted(added);
    }
    std::vector<value_type> merged;
    merged.reserve(entries_.size() + added.size());
    auto old = entries_.begin();
    for (const View& entry : added) {
      while (old != entries_.end() && old->first < entry.first) {
        merged.push_back(std::move(*old++));
      }
      if (old != entries_.end() && old->first == entry.first) ++old;
      merged.emplace_back(entry.first, entry.second);
    }
    std::move(old, entries_.end(), std::back_inserter(merged));
    entries_ = std::move(merged);
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

  // In the order of keys, less the texts that a later one of their key hides.
  static absl::Span<View> Sorted(absl::Span<View> entries) {
    const auto before = [](const View& a, const View& b) {
      return a.first < b.first;
    };
    if (entries.size() <= kFew) {
      for (auto at = entries.begin(); at != entries.end(); ++at) {
        std::rotate(std::upper_bound(entries.begin(), at, *at, before), at,
                    at + 1);
      }
    } else {
      std::stable_sort(entries.begin(), entries.end(), before);
    }
    // From the back, where the last of each key comes first.
    const auto kept = std::unique(
        entries.rbegin(), entries.rend(),
        [](const View& a, const View& b) { return a.first == b.first; });
    return entries.subspan(static_cast<size_t>(kept.base() - entries.begin()));
  }

  // So many are sorted where they are, without a buffer.
  static constexpr size_t kFew = 32;

  std::vector<value_type> entries_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_STRING_MAP_H_
