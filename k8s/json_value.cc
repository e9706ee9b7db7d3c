#include "k8s/json_value.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "k8s/json_numbers.h"
#include "proto/check.h"
#include "simdjson.h"

namespace gpubinder {

namespace dom = simdjson::dom;

struct JsonDocument::Parser {
  dom::parser parser;
};

// JsonValue holds a dom::element without naming the type, and looks at the
// parser's tape itself. An element is a place on the tape, whose word there has
// a tag in its upper byte. A text's word names its place among the texts, each
// behind its length. An object's or list's names the place behind its end and
// how many it has; they follow, for an object each name before its value. A
// number has a second word.
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
    const dom::document* document;
    size_t place;
    std::memcpy(&document, &element, sizeof(void*));
    std::memcpy(&place, reinterpret_cast<const char*>(&element) + sizeof(void*),
                sizeof(size_t));
    return At(*document, place);
  }
  static JsonValue At(const dom::document& document, size_t place) {
    JsonValue value;
    value.document_ = &document;
    value.place_ = place;
    value.type_ = TypeAt(document, place);
    return value;
  }

  // Only for a value that is not absent.
  static const dom::document& DocumentOf(const JsonValue& value) {
    return *static_cast<const dom::document*>(value.document_);
  }
  static uint64_t WordOf(const JsonValue& value) {
    return DocumentOf(value).tape[value.place_];
  }

  static absl::string_view TextAt(const dom::document& document, size_t place) {
    const uint64_t offset = document.tape[place] & ~(uint64_t{0xff} << 56);
    const uint8_t* const text = document.string_buf.get() + offset;
    uint32_t size;
    std::memcpy(&size, text, sizeof(size));
    return {reinterpret_cast<const char*>(text) + sizeof(size), size};
  }
  // Of the value after the one at `place`.
  static size_t PlaceAfter(const dom::document& document, size_t place) {
    const uint64_t word = document.tape[place];
    switch (word >> 56) {
      case '{':
      case '[':
        return static_cast<uint32_t>(word);
      case 'l':
      case 'u':
      case 'd':
        return place + 2;
      default:
        return place + 1;
    }
  }
  // Of a list or object: the place of its closing word.
  static size_t EndOf(const JsonValue& value) {
    return static_cast<uint32_t>(WordOf(value)) - size_t{1};
  }

 private:
  static JsonValue::Type TypeAt(const dom::document& document, size_t place);
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

// memcmp costs more than all of this: names are short, and few are of a size.
bool IsSame(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  const auto equal = [&]<typename Word>(size_t at, Word) {
    Word of_a, of_b;
    std::memcpy(&of_a, a.data() + at, sizeof(Word));
    std::memcpy(&of_b, b.data() + at, sizeof(Word));
    return of_a == of_b;
  };
  const size_t size = a.size();
  if (size > 16) {
    return equal(0, uint64_t{}) &&
           std::memcmp(a.data() + 8, b.data() + 8, size - 8) == 0;
  }
  // Two words that overlap.
  if (size >= 8) return equal(0, uint64_t{}) && equal(size - 8, uint64_t{});
  if (size >= 4) return equal(0, uint32_t{}) && equal(size - 4, uint32_t{});
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
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

JsonValue::Type JsonValueAccess::TypeAt(const dom::document& document,
                                        size_t place) {
  switch (document.tape[place] >> 56) {
    case '{':
      return JsonValue::Type::kObject;
    case '[':
      return JsonValue::Type::kList;
    case '"':
      return JsonValue::Type::kText;
    case 't':
    case 'f':
      return JsonValue::Type::kBool;
    case 'l':
      return JsonValue::Type::kInteger;
    case 'u':
      return JsonValue::Type::kNumber;
    case 'd': {
      double number;
      std::memcpy(&number, &document.tape[place + 1], sizeof(number));
      return IsWhole(number) ? JsonValue::Type::kInteger
                             : JsonValue::Type::kNumber;
    }
    default:
      return JsonValue::Type::kAbsent;
  }
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
  return JsonValueAccess::TextAt(JsonValueAccess::DocumentOf(*this), place_);
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
  if (type_ != Type::kObject && type_ != Type::kList) return 0;
  return (JsonValueAccess::WordOf(*this) >> 32) & 0xffffff;
}

JsonValue JsonValue::Field(absl::string_view name) const {
  if (type_ != Type::kObject) return {};
  const dom::document& document = JsonValueAccess::DocumentOf(*this);
  const size_t end = JsonValueAccess::EndOf(*this);
  for (size_t at = place_ + 1; at != end;
       at = JsonValueAccess::PlaceAfter(document, at + 1)) {
    if (IsSame(JsonValueAccess::TextAt(document, at), name)) {
      return JsonValueAccess::At(document, at + 1);
    }
  }
  return {};
}

void JsonValue::ForEachItem(absl::FunctionRef<void(JsonValue)> visit) const {
  if (type_ != Type::kList) return;
  const dom::document& document = JsonValueAccess::DocumentOf(*this);
  const size_t end = JsonValueAccess::EndOf(*this);
  for (size_t at = place_ + 1; at != end;
       at = JsonValueAccess::PlaceAfter(document, at)) {
    visit(JsonValueAccess::At(document, at));
  }
}

void JsonValue::ForEachField(
    absl::FunctionRef<void(absl::string_view, JsonValue)> visit) const {
  if (type_ != Type::kObject) return;
  const dom::document& document = JsonValueAccess::DocumentOf(*this);
  const size_t end = JsonValueAccess::EndOf(*this);
  for (size_t at = place_ + 1; at != end;
       at = JsonValueAccess::PlaceAfter(document, at + 1)) {
    visit(JsonValueAccess::TextAt(document, at),
          JsonValueAccess::At(document, at + 1));
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
