// Reads the fields of one JSON object into a struct, tolerantly: what is
// absent or null leaves the target alone, what is of a wrong type leaves it
// alone too and becomes a FieldProblem that says what was found and what is
// legal.
//
//   FieldReader root(document.root(), &node.meta.problems);
//   const FieldReader spec = root.Object("spec");
//   spec.Read("unschedulable", &node.unschedulable);

#ifndef K8S_FIELD_READER_H_
#define K8S_FIELD_READER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "k8s/json_value.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

class FieldReader {
 public:
  // `problems` outlives the reader and all readers made from it.
  FieldReader(JsonValue root, std::vector<FieldProblem>* problems);
  // Copies would leave the chain of parents that paths are made from.
  FieldReader(const FieldReader&) = delete;
  FieldReader& operator=(const FieldReader&) = delete;

  bool present() const { return value_.present(); }
  bool Has(absl::string_view name) const {
    return value_.Field(name).present();
  }

  // The object of that name, absent if there is none. Lives shorter than this.
  FieldReader Object(absl::string_view name) const&;
  FieldReader Object(absl::string_view name) const&& = delete;

  void Read(absl::string_view name, std::string* out) const;
  void Read(absl::string_view name, std::optional<std::string>* out) const;
  void Read(absl::string_view name, bool* out) const;
  void Read(absl::string_view name, int64_t* out) const;
  void Read(absl::string_view name, uint64_t* out) const;
  void Read(absl::string_view name, std::optional<int64_t>* out) const;
  // RFC 3339, with or without a fraction.
  void Read(absl::string_view name, absl::Time* out) const;
  void Read(absl::string_view name, std::optional<absl::Time>* out) const;
  void Read(absl::string_view name, std::vector<std::string>* out) const;
  void Read(absl::string_view name, StringMap* out) const;
  // As if the map had no entry `skip`.
  void ReadExcept(absl::string_view name, absl::string_view skip,
                  StringMap* out) const;
  // Texts, and bare numbers as text: quantities are both.
  void ReadQuantities(absl::string_view name, ResourceList* out) const;
  void ReadWithin(absl::string_view name, int64_t least, int64_t most,
                  int64_t* out) const;
  void ReadChoice(absl::string_view name,
                  std::initializer_list<absl::string_view> legal,
                  std::string* out) const;

  // Visits a list of objects in order. An item of another type is a problem
  // and is visited as an empty object, so that indices stay true.
  void ForEach(absl::string_view name,
               absl::FunctionRef<void(const FieldReader&)> visit) const;

  // The same; read(item, T&) fills a new T at the end of `out`.
  template <typename T, typename ReadItem>
  void ReadEach(absl::string_view name, std::vector<T>* out,
                ReadItem read) const {
    const JsonValue list = ListOf(name);
    out->reserve(out->size() + list.size());
    ForEachOf(name, list, [&](const FieldReader& item) {
      read(item, out->emplace_back());
    });
  }

  // About the field of that name.
  void AddProblem(absl::string_view name, absl::string_view message) const;

 private:
  FieldReader(const FieldReader* parent, absl::string_view name, int64_t index,
              JsonValue value);
  // The object of that name, absent if there is none.
  JsonValue ObjectOf(absl::string_view name) const;
  // The list of that name, absent if there is none.
  JsonValue ListOf(absl::string_view name) const;
  // ForEach of `list`, which is ListOf(name).
  void ForEachOf(absl::string_view name, JsonValue list,
                 absl::FunctionRef<void(const FieldReader&)> visit) const;
  // Notes that `value` at `name` is not `want`.
  void WrongType(absl::string_view name, JsonValue value,
                 absl::string_view want) const;
  // The same of an entry of a map of this object.
  void WrongTypeIn(absl::string_view map, absl::string_view key,
                   JsonValue value, absl::string_view want) const;
  std::string Path() const;

  const FieldReader* parent_ = nullptr;
  absl::string_view name_;
  int64_t index_ = -1;  // in the list name_; -1: no item
  JsonValue value_;     // an object, or absent
  std::vector<FieldProblem>* problems_;
};

// What a value is, for a message: `the number 5`, `the text "abc"` (cut to 64
// bytes), `a list`.
std::string DescribeValue(JsonValue value);

}  // namespace gpubinder

#endif  // K8S_FIELD_READER_H_
