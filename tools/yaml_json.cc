#include "tools/yaml_json.h"

#include <algorithm>
#include <deque>
#include <map>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/yaml_scalar.h"
#include "yaml-cpp/depthguard.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace gpubinder {
namespace {

constexpr int kMostLevels = 500;
constexpr char kTagPrefix[] = "tag:yaml.org,2002:";

[[noreturn]] void Fail(const YAML::Mark& mark, const std::string& message) {
  throw YAML::ParserException(mark, message);
}

// A value of the document. Aliases share one.
struct Value {
  std::string json;  // of a scalar; empty: a list or a map
  bool is_map = false;
  bool is_null = false;
  std::vector<const Value*> items;
  std::map<std::string, const Value*> by_key;
  std::vector<std::string> keys;  // in their order
  int levels = 1;
  size_t bytes = 0;
};

// A list or map that is being read.
struct Open {
  Value* value = nullptr;
  YAML::anchor_t anchor = 0;
  YAML::Mark mark;
  bool has_key = false, merges = false;
  std::string key;
  std::vector<const Value*> merged;
};

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(size_t most_bytes) : most_bytes_(most_bytes) {}

  const Value* root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (WantsKey()) Fail(mark, "found a key that is null, want a text");
    Value& value = values_.emplace_back();
    value.json = "null";
    value.is_null = true;
    value.bytes = value.json.size();
    Put(value, anchor, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      Fail(mark, "an alias stands inside of what it stands for");
    }
    const Value& value = *found->second;
    if (WantsKey()) {
      if (value.json.empty()) Fail(mark, "found a key that is no scalar");
      return SetKey(KeyOf(value.json), mark);
    }
    PutUnanchored(value, mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& text) override {
    const bool plain = tag == "?";
    Value& value = values_.emplace_back();
    value.json = ScalarJson(mark, tag, text);
    value.bytes = value.json.size();
    value.is_null = value.json == "null";
    if (WantsKey()) {
      if (anchor != 0) anchors_[anchor] = &value;
      open_.back().merges = plain && text == "<<";
      return SetKey(KeyOf(value.json), mark);
    }
    Put(value, anchor, mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckTag(mark, tag, "seq");
    Begin(mark, anchor);
  }
  void OnSequenceEnd() override { End(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    CheckTag(mark, tag, "map");
    Begin(mark, anchor);
    open_.back().value->is_map = true;
  }
  void OnMapEnd() override {
    Open& map = open_.back();
    for (const Value* merged : map.merged) {
      for (const std::string& key : merged->keys) {
        Add(key, *merged->by_key.at(key), map);
      }
    }
    End();
  }

 private:
  static std::string ScalarJson(const YAML::Mark& mark, const std::string& tag,
                                const std::string& text) {
    if (tag == "?") {
      const YamlScalar scalar = ResolvePlainScalar(text);
      if (scalar.type != YamlScalar::Type::kNotFinite) return scalar.json;
      Fail(mark, absl::StrCat("found the number ", text, ", which JSON lacks"));
    }
    absl::string_view type = tag;
    if (tag == "!" || !absl::ConsumePrefix(&type, kTagPrefix)) {
      if (tag != "!") Fail(mark, absl::StrCat("found the unknown tag ", tag));
      return JsonQuoted(text);
    }
    const YamlScalar::Type found = ResolvePlainScalar(text).type;
    using Type = YamlScalar::Type;
    if (type == "str" || type == "timestamp") return JsonQuoted(text);
    if (((type == "int" || type == "float") && found == Type::kNumber) ||
        (type == "bool" && found == Type::kBool) ||
        (type == "null" && found == Type::kNull)) {
      return ResolvePlainScalar(text).json;
    }
    Fail(mark, absl::StrCat("\"", text, "\" does not go with the tag ", tag));
  }

  static void CheckTag(const YAML::Mark& mark, const std::string& tag,
                       absl::string_view type) {
    if (tag.empty() || tag == "?" || tag == "!" ||
        tag == absl::StrCat(kTagPrefix, type)) {
      return;
    }
    Fail(mark, absl::StrCat("found the unknown tag ", tag));
  }

  // Keys are texts in JSON, whatever they are in YAML.
  static std::string KeyOf(const std::string& json) {
    return json[0] == '"' ? json : JsonQuoted(json);
  }

  bool WantsKey() const {
    return !open_.empty() && open_.back().value->is_map &&
           !open_.back().has_key;
  }

  void SetKey(std::string key, const YAML::Mark& mark) {
    Open& map = open_.back();
    if (!map.merges && map.value->by_key.contains(key)) {
      Fail(mark, absl::StrCat("the key ", key, " stands twice in a map"));
    }
    map.key = std::move(key);
    map.has_key = true;
  }

  void Begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (WantsKey()) Fail(mark, "found a key that is a list or a map");
    if (open_.size() >= kMostLevels) Fail(mark, "nested too deep");
    open_.push_back(
        {.value = &values_.emplace_back(), .anchor = anchor, .mark = mark});
    open_.back().value->bytes = 2;
  }

  void End() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    Put(*done.value, done.anchor, done.mark);
  }

  void Put(const Value& value, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor != 0) anchors_[anchor] = &value;
    PutUnanchored(value, mark);
  }

  void PutUnanchored(const Value& value, const YAML::Mark& mark) {
    if (open_.empty()) {
      root_ = &value;
      return;
    }
    Open& parent = open_.back();
    if (!parent.value->is_map) {
      parent.value->items.push_back(&value);
      Grow(value, 1, parent);
    } else if (std::exchange(parent.merges, false)) {
      Merge(value, mark, parent);
    } else {
      Add(parent.key, value, parent);
    }
    parent.has_key = false;
    if (parent.value->bytes > most_bytes_) Fail(mark, "grows too large");
    if (parent.value->levels > kMostLevels) Fail(mark, "nested too deep");
  }

  static void Grow(const Value& value, size_t more, Open& parent) {
    parent.value->levels = std::max(parent.value->levels, value.levels + 1);
    parent.value->bytes += value.bytes + more;
  }

  // A key that is there already stays.
  static void Add(const std::string& key, const Value& value, Open& map) {
    if (!map.value->by_key.emplace(key, &value).second) return;
    map.value->keys.push_back(key);
    Grow(value, key.size() + 2, map);
  }

  static void Merge(const Value& value, const YAML::Mark& mark, Open& map) {
    if (value.is_map) {
      map.merged.push_back(&value);
      return;
    }
    for (const Value* item : value.items) {
      if (!item->is_map) Fail(mark, "found a merge of what is no map");
      map.merged.push_back(item);
    }
    if (!value.json.empty()) Fail(mark, "found a merge of what is no map");
  }

  const size_t most_bytes_;
  std::deque<Value> values_;
  std::map<YAML::anchor_t, const Value*> anchors_;
  std::vector<Open> open_;
  const Value* root_ = nullptr;
};

// Not deeper than kMostLevels.
void Write(const Value& value, std::string* out) {
  if (!value.json.empty()) {
    *out += value.json;
    return;
  }
  *out += value.is_map ? '{' : '[';
  bool first = true;
  for (const std::string& key : value.keys) {
    if (!std::exchange(first, false)) *out += ',';
    absl::StrAppend(out, key, ":");
    Write(*value.by_key.at(key), out);
  }
  for (const Value* item : value.items) {
    if (!std::exchange(first, false)) *out += ',';
    Write(*item, out);
  }
  *out += value.is_map ? '}' : ']';
}

absl::Status ErrorAt(int document, const YAML::Mark& mark,
                     const std::string& message) {
  return absl::InvalidArgumentError(
      absl::StrCat("document ", document, ", line ", mark.line + 1, ", column ",
                   mark.column + 1, ": ", message));
}

}  // namespace

absl::StatusOr<std::vector<YamlDocument>> YamlToJson(absl::string_view text,
                                                     size_t most_bytes) {
  std::vector<YamlDocument> documents;
  size_t bytes = 0;
  int number = 1;
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    for (;; ++number) {
      Builder builder(most_bytes);
      if (!parser.HandleNextDocument(builder)) return documents;
      const Value* root = builder.root();
      if (root == nullptr || root->is_null) continue;
      bytes += root->bytes;
      if (bytes > most_bytes) {
        return absl::InvalidArgumentError(absl::StrCat(
            "document ", number, ": more than ", most_bytes, " bytes as JSON"));
      }
      documents.push_back({.number = number});
      Write(*root, &documents.back().json);
    }
  } catch (const YAML::DeepRecursion& error) {
    return ErrorAt(number, error.mark, "nested too deep");
  } catch (const YAML::Exception& error) {
    return ErrorAt(number, error.mark, error.msg);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("document ", number, ": cannot be read: ", error.what()));
  }
}

}  // namespace gpubinder
