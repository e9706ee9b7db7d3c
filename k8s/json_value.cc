#include "k8s/json_value.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "k8s/json_numbers.h"
#include "proto/check.h"
#include "simdjson.h"

namespace gpubinder {

namespace dom = simdjson::dom;

struct JsonDocument::Parser {
  dom::parser parser;
};

// JsonValue holds a dom::element without naming the type.
struct JsonValueAccess {
  static_assert(sizeof(dom::element) ==
                sizeof(JsonValue::document_) + sizeof(JsonValue::place_));
  static_assert(std::is_trivially_copyable_v<dom::element>);

  static dom::element Open(const JsonValue& value) {
    dom::element element;
    std::memcpy(static_cast<void*>(&element), &value.document_, sizeof(void*));
    std::memcpy(reinterpret_cast<char*>(&element) + sizeof(void*),
                &value.place_, sizeof(size_t));
    return element;
  }
  static JsonValue Close(const dom::element& element) {
    JsonValue value;
    std::memcpy(&value.document_, &element, sizeof(void*));
    std::memcpy(&value.place_,
                reinterpret_cast<const char*>(&element) + sizeof(void*),
                sizeof(size_t));
    return value;
  }
};

namespace {

// The API server's own limit is 10,000 levels.
constexpr size_t kMaxDepth = 10'050;
// A parser that has seen a huge document is not kept.
constexpr size_t kKeptCapacity = size_t{4} << 20;
constexpr size_t kKeptParsers = 4;

using ParserList = std::vector<std::unique_ptr<JsonDocument::Parser>>;

ParserList& SpareParsers() {
  static thread_local ParserList spare;
  return spare;
}

std::unique_ptr<JsonDocument::Parser> TakeParser() {
  ParserList& spare = SpareParsers();
  if (!spare.empty()) {
    std::unique_ptr<JsonDocument::Parser> parser = std::move(spare.back());
    spare.pop_back();
    return parser;
  }
  auto parser = std::make_unique<JsonDocument::Parser>();
  // Failing is out of memory, which the parse will report.
  static_cast<void>(parser->parser.allocate(size_t{64} << 10, kMaxDepth));
  return parser;
}

// Whether an int64 holds the same number: 2.0 is 2, as the API server has it.
bool IsWhole(double number) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  return number >= -kLimit && number < kLimit && number == std::trunc(number);
}

std::string DoubleText(double number) {
  char buffer[64];
  const std::to_chars_result result =
      std::to_chars(buffer, buffer + sizeof(buffer), number);
  return std::string(buffer, result.ptr);
}

void AppendText(absl::string_view text, std::string* out) {
  *out += '"';
  size_t clean = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text.data() + clean, i - clean);
    clean = i + 1;
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += static_cast<char>(c);
    } else {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      *out += escape;
    }
  }
  out->append(text.data() + clean, text.size() - clean);
  *out += '"';
}

void AppendScalar(const dom::element& element, std::string* out) {
  switch (element.type()) {
    case dom::element_type::STRING:
      AppendText(AbslView(element.get_string().value_unsafe()), out);
      break;
    case dom::element_type::INT64:
      absl::StrAppend(out, element.get_int64().value_unsafe());
      break;
    case dom::element_type::UINT64:
      absl::StrAppend(out, element.get_uint64().value_unsafe());
      break;
    case dom::element_type::DOUBLE: {
      const std::string text = DoubleText(element.get_double().value_unsafe());
      absl::StrAppend(out, text);
      // Written as a long integer, the next reader might not hold it.
      if (text.find_first_of(".e") == std::string::npos) *out += ".0";
      break;
    }
    case dom::element_type::BOOL:
      *out += element.get_bool().value_unsafe() ? "true" : "false";
      break;
    default:
      *out += "null";
  }
}

}  // namespace

JsonValue::Type JsonValue::type() const {
  if (document_ == nullptr) return Type::kAbsent;
  switch (JsonValueAccess::Open(*this).type()) {
    case dom::element_type::ARRAY:
      return Type::kList;
    case dom::element_type::OBJECT:
      return Type::kObject;
    case dom::element_type::INT64:
      return Type::kInteger;
    case dom::element_type::UINT64:
      return Type::kNumber;
    case dom::element_type::DOUBLE:
      return IsWhole(JsonValueAccess::Open(*this).get_double().value_unsafe())
                 ? Type::kInteger
                 : Type::kNumber;
    case dom::element_type::STRING:
      return Type::kText;
    case dom::element_type::BOOL:
      return Type::kBool;
    case dom::element_type::NULL_VALUE:
      return Type::kAbsent;
  }
  return Type::kAbsent;
}

bool JsonValue::boolean() const {
  return JsonValueAccess::Open(*this).get_bool().value_unsafe();
}

int64_t JsonValue::integer() const {
  const dom::element element = JsonValueAccess::Open(*this);
  if (element.type() == dom::element_type::DOUBLE) {
    return static_cast<int64_t>(element.get_double().value_unsafe());
  }
  return element.get_int64().value_unsafe();
}

absl::string_view JsonValue::text() const {
  return AbslView(JsonValueAccess::Open(*this).get_string().value_unsafe());
}

std::string JsonValue::number_text() const {
  const dom::element element = JsonValueAccess::Open(*this);
  // Asked is_double(), an integer says yes too.
  if (element.type() == dom::element_type::DOUBLE) {
    return DoubleText(element.get_double().value_unsafe());
  }
  std::string text;
  AppendScalar(element, &text);
  return text;
}

size_t JsonValue::size() const {
  if (document_ == nullptr) return 0;
  const dom::element element = JsonValueAccess::Open(*this);
  if (element.is_object()) return element.get_object().value_unsafe().size();
  if (element.is_array()) return element.get_array().value_unsafe().size();
  return 0;
}

JsonValue JsonValue::Field(absl::string_view name) const {
  if (document_ == nullptr) return {};
  const dom::element element = JsonValueAccess::Open(*this);
  dom::object object;
  dom::element found;
  if (element.get(object) != simdjson::SUCCESS ||
      object.at_key(StdView(name)).get(found) != simdjson::SUCCESS) {
    return {};
  }
  return JsonValueAccess::Close(found);
}

void JsonValue::ForEachItem(absl::FunctionRef<void(JsonValue)> visit) const {
  if (type() != Type::kList) return;
  const dom::array list =
      JsonValueAccess::Open(*this).get_array().value_unsafe();
  for (const dom::element item : list) {
    visit(JsonValueAccess::Close(item));
  }
}

void JsonValue::ForEachField(
    absl::FunctionRef<void(absl::string_view, JsonValue)> visit) const {
  if (type() != Type::kObject) return;
  const dom::object object =
      JsonValueAccess::Open(*this).get_object().value_unsafe();
  for (const dom::key_value_pair field : object) {
    visit(AbslView(field.key), JsonValueAccess::Close(field.value));
  }
}

absl::StatusOr<JsonDocument> JsonDocument::Parse(absl::string_view text) {
  JsonDocument document(TakeParser());
  dom::parser& parser = document.parser_->parser;
  dom::element root;
  simdjson::error_code error = parser.parse(text.data(), text.size()).get(root);
  if (error == simdjson::NUMBER_ERROR) {
    const std::string quoted = QuoteWideNumbers(text);
    error = parser.parse(quoted.data(), quoted.size()).get(root);
  }
  if (error != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(
        absl::StrCat("no JSON: ", simdjson::error_message(error)));
  }
  document.root_ = JsonValueAccess::Close(root);
  return document;
}

JsonDocument::JsonDocument(std::unique_ptr<Parser> parser)
    : parser_(std::move(parser)) {}
JsonDocument::JsonDocument(JsonDocument&& other) noexcept = default;

JsonDocument::~JsonDocument() {
  if (parser_ == nullptr || parser_->parser.capacity() > kKeptCapacity) return;
  ParserList& spare = SpareParsers();
  if (spare.size() < kKeptParsers) spare.push_back(std::move(parser_));
}

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

namespace {

// One list or object that is being written.
struct OpenLevel {
  bool is_object = false;
  bool first = true;
  const PathTree* leave_out = nullptr;  // null: all of it is written
  dom::array::iterator item, items_end;
  dom::object::iterator field, fields_end;
};

// Opens `element` as a level, or writes it if it is a scalar.
void BeginValue(const dom::element& element, const PathTree* leave_out,
                std::vector<OpenLevel>* levels, std::string* out) {
  if (element.is_array()) {
    const dom::array list = element.get_array().value_unsafe();
    *out += '[';
    levels->push_back({.leave_out = leave_out,
                       .item = list.begin(),
                       .items_end = list.end()});
  } else if (element.is_object()) {
    const dom::object object = element.get_object().value_unsafe();
    *out += '{';
    levels->push_back({.is_object = true,
                       .leave_out = leave_out,
                       .field = object.begin(),
                       .fields_end = object.end()});
  } else {
    AppendScalar(element, out);
  }
}

void WriteComma(OpenLevel* level, std::string* out) {
  if (!level->first) *out += ',';
  level->first = false;
}

}  // namespace

std::string WriteJson(JsonValue value, const PathTree& leave_out) {
  std::string out;
  if (!value.present()) return "null";
  std::vector<OpenLevel> levels;
  BeginValue(JsonValueAccess::Open(value), &leave_out, &levels, &out);
  while (!levels.empty()) {
    OpenLevel& level = levels.back();
    const PathTree* const rules = level.leave_out;
    if (level.is_object) {
      if (!(level.field != level.fields_end)) {
        out += '}';
        levels.pop_back();
        continue;
      }
      const absl::string_view name = AbslView(level.field.key());
      const dom::element inner = level.field.value();
      const PathTree* below = rules == nullptr ? nullptr : rules->Below(name);
      ++level.field;
      if (below != nullptr && below->ends()) continue;
      WriteComma(&level, &out);
      AppendText(name, &out);
      out += ':';
      BeginValue(inner, below, &levels, &out);
    } else {
      if (!(level.item != level.items_end)) {
        out += ']';
        levels.pop_back();
        continue;
      }
      const dom::element inner = *level.item;
      ++level.item;
      WriteComma(&level, &out);
      BeginValue(inner, rules, &levels, &out);
    }
  }
  return out;
}

}  // namespace gpubinder
