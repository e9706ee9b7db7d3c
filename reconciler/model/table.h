// The objects of one kind: rows with stable numbers, found by name and by
// uid, and visited in the order of their names. A row's number is reused after
// its object has gone.

#ifndef RECONCILER_MODEL_TABLE_H_
#define RECONCILER_MODEL_TABLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/text_index.h"

namespace gpubinder {

using Row = uint32_t;

// The key of an object by name: its order is that of (namespace, name).
inline std::string NameKey(absl::string_view name_space,
                           absl::string_view name) {
  return absl::StrCat(name_space, absl::string_view("\0", 1), name);
}

template <typename T>
class Table {
 public:
  std::optional<Row> FindRow(absl::string_view name_space,
                             absl::string_view name) const {
    return named_.Find(HashOfTexts(name_space, name), [&](Row row) {
      const auto& meta = rows_[row]->meta;
      return meta.name == name && meta.name_space == name_space;
    });
  }
  std::optional<Row> FindUid(absl::string_view uid) const {
    return with_uid_.Find(HashOfTexts(uid, ""),
                          [&](Row row) { return rows_[row]->meta.uid == uid; });
  }
  // Null when there is none. Valid until the object changes.
  const T* Find(absl::string_view name_space, absl::string_view name) const {
    const std::optional<Row> row = FindRow(name_space, name);
    return row.has_value() ? &*rows_[*row] : nullptr;
  }
  const T& operator[](Row row) const { return *rows_[row]; }
  T& Mutable(Row row) { return *rows_[row]; }
  bool Holds(Row row) const {
    return row < rows_.size() && rows_[row].has_value();
  }
  // Rows are numbered below this; some may hold nothing.
  Row end() const { return static_cast<Row>(rows_.size()); }
  size_t size() const { return by_name_.size(); }
  // In the order of (namespace, name).
  const absl::btree_map<std::string, Row>& by_name() const { return by_name_; }
  // Calls visit(Row) for the objects of the namespace, in the order of their
  // names. O(log objects + those).
  template <typename Visit>
  void ForEachIn(absl::string_view name_space, Visit visit) const {
    const auto end = by_name_.lower_bound(EndOf(name_space));
    for (auto it = by_name_.lower_bound(NameKey(name_space, "")); it != end;
         ++it) {
      visit(it->second);
    }
  }
  // Calls visit(const std::string&) for each namespace that has objects.
  // O(namespaces x log objects).
  template <typename Visit>
  void ForEachNamespace(Visit visit) const {
    for (auto it = by_name_.begin(); it != by_name_.end();) {
      const std::string& name_space = (*this)[it->second].meta.name_space;
      visit(name_space);
      it = by_name_.lower_bound(EndOf(name_space));
    }
  }

  // Takes the place of an object of that name, whatever its uid.
  Row Put(T&& object) {
    const std::optional<Row> found =
        FindRow(object.meta.name_space, object.meta.name);
    if (!found.has_value()) {
      const Row row = NewRow();
      rows_[row] = std::move(object);
      const auto& meta = rows_[row]->meta;
      by_name_.emplace(NameKey(meta.name_space, meta.name), row);
      named_.Insert(HashOfTexts(meta.name_space, meta.name), row);
      NoteUid(row);
      return row;
    }
    const bool same =
        rows_[*found]->meta.uid == object.meta.uid && has_uid_[*found];
    if (!same) ForgetUid(*found);
    *rows_[*found] = std::move(object);
    if (!same) NoteUid(*found);
    return *found;
  }
  void Erase(Row row) {
    const auto& meta = rows_[row]->meta;
    by_name_.erase(NameKey(meta.name_space, meta.name));
    named_.Erase(HashOfTexts(meta.name_space, meta.name), row);
    ForgetUid(row);
    rows_[row].reset();
    free_.push_back(row);
  }

  // Uids whose deletion was seen since the last complete list: a delete is
  // final, whatever a repeated event says.
  absl::btree_set<std::string> dead;
  // Rows that the list under way has named, or that an answer to a write of
  // ours has shown since it began.
  absl::btree_set<Row> listed, written;

 private:
  // Behind every key of the namespace.
  static std::string EndOf(absl::string_view name_space) {
    return absl::StrCat(name_space, "\1");
  }
  // A uid names one object: the last that came with it.
  void NoteUid(Row row) {
    const std::string& uid = rows_[row]->meta.uid;
    const uint64_t hash = HashOfTexts(uid, "");
    const std::optional<Row> before = with_uid_.Find(
        hash, [&](Row other) { return rows_[other]->meta.uid == uid; });
    if (before.has_value()) {
      with_uid_.Erase(hash, *before);
      has_uid_[*before] = false;
    }
    with_uid_.Insert(hash, row);
    has_uid_[row] = true;
  }
  // The uid may name another object by now: one that was restored, or of a
  // cluster that began anew.
  void ForgetUid(Row row) {
    with_uid_.Erase(HashOfTexts(rows_[row]->meta.uid, ""), row);
    has_uid_[row] = false;
  }
  Row NewRow() {
    if (free_.empty()) {
      rows_.emplace_back();
      has_uid_.push_back(false);
      return static_cast<Row>(rows_.size() - 1);
    }
    const Row row = free_.back();
    free_.pop_back();
    return row;
  }

  std::deque<std::optional<T>> rows_;
  std::vector<Row> free_;
  absl::btree_map<std::string, Row> by_name_;
  TextIndex named_, with_uid_;
  // By row, whether with_uid_ has it: that tree is far away.
  std::vector<bool> has_uid_;
};

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TABLE_H_
