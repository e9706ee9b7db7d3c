// JSON text as values to look at, and back to text with parts left out. It is
// the one place that knows the parser (simdjson, whose header stays out of
// here); the codecs and the filter see this.
//
// Input is what the API server sends and what people write, so two things the
// parser alone would refuse are taken: numbers beyond 64 bits or double become
// text of the same digits, and nesting is allowed as deep as the API server
// allows it (10,000).

#ifndef K8S_JSON_VALUE_H_
#define K8S_JSON_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

// A value of a JsonDocument, three words to copy. It is valid, and so are the
// texts it gives, as long as the document is.
class JsonValue {
 public:
  // null reads as absent. kInteger fits int64, 2.0 too; kNumber is any other
  // number.
  enum class Type { kAbsent, kBool, kInteger, kNumber, kText, kList, kObject };

  JsonValue() = default;  // absent

  Type type() const { return type_; }
  bool present() const { return type_ != Type::kAbsent; }
  // Only for a value of that type.
  bool boolean() const;
  int64_t integer() const;
  absl::string_view text() const;
  // Of a kInteger or kNumber, in its shortest form.
  std::string number_text() const;

  // Of a list or object, how many items or fields it has, up to 16 million; 0
  // for any other. O(1).
  size_t size() const;

  // The first field of that name; absent if there is none or this is no
  // object. O(fields).
  JsonValue Field(absl::string_view name) const;
  // In order; nothing happens for a value that is no list, or no object.
  void ForEachItem(absl::FunctionRef<void(JsonValue)> visit) const;
  void ForEachField(
      absl::FunctionRef<void(absl::string_view, JsonValue)> visit) const;

 private:
  friend class JsonDocument;
  friend struct JsonValueAccess;
  const void* document_ = nullptr;
  size_t place_ = 0;
  Type type_ = Type::kAbsent;
};

class JsonDocument {
 public:
  // One JSON value, alone in `text`, which may go afterwards. A parser is kept
  // for the thread's next documents. kInvalidArgument: no JSON.
  static absl::StatusOr<JsonDocument> Parse(absl::string_view text);
  JsonDocument(JsonDocument&& other) noexcept;
  JsonDocument& operator=(JsonDocument&& other) = delete;
  ~JsonDocument();

  JsonValue root() const { return root_; }

  struct Parser;

 private:
  explicit JsonDocument(std::unique_ptr<Parser> parser);
  std::unique_ptr<Parser> parser_;
  JsonValue root_;
};

// A set of paths, for WriteJson.
class PathTree {
 public:
  // The steps of a path are parted by '>'. Lists are no steps: what follows
  // their name holds for each item.
  PathTree(std::initializer_list<absl::string_view> paths);

  bool ends() const { return below_.empty(); }
  const PathTree* Below(absl::string_view name) const;

 private:
  PathTree() = default;
  void Add(absl::string_view path);
  std::string name_;
  std::vector<PathTree> below_;
};

// `value` as compact JSON, without what `leave_out` names. Not recursive, so
// depth is no danger.
std::string WriteJson(JsonValue value, const PathTree& leave_out);

}  // namespace gpubinder

#endif  // K8S_JSON_VALUE_H_
