#include "k8s/field_reader.h"

#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/civil_time.h"
#include "absl/types/span.h"

namespace gpubinder {

namespace {

using Type = JsonValue::Type;

// So many as labels mostly are need no memory of their own.
using MapEntries = absl::InlinedVector<StringMap::View, 16>;

constexpr char kWantText[] = "a text";
constexpr char kWantWhole[] = "a whole number";
constexpr char kWantTime[] = "an RFC 3339 time";

// Names that hold a path's own signs are put in brackets.
std::string Step(absl::string_view name) {
  if (name.find_first_of("./\"") == absl::string_view::npos) {
    return absl::StrCat(".", name);
  }
  return absl::StrCat("[\"", absl::Utf8SafeCEscape(name), "\"]");
}

// The number that `count` digits are; -1: other signs are there.
int Digits(absl::string_view text, size_t at, size_t count) {
  int number = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (!absl::ascii_isdigit(text[i])) return -1;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

// The form that the API server writes, "2026-01-02T03:04:05Z". Objects are full
// of times, and the general parser costs more than the rest of their decoding.
bool ParseWholeSeconds(absl::string_view text, absl::Time* out) {
  if (text.size() != 20 || text[4] != '-' || text[7] != '-' ||
      text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
      text[19] != 'Z') {
    return false;
  }
  const int year = Digits(text, 0, 4), month = Digits(text, 5, 2);
  const int day = Digits(text, 8, 2), hour = Digits(text, 11, 2);
  const int minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (year < 0 || month < 1 || day < 1 || hour < 0 || minute < 0 ||
      second < 0) {
    return false;
  }
  // What is out of range comes back as another day or time.
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  if (civil.month() != month || civil.day() != day || civil.hour() != hour ||
      civil.minute() != minute || civil.second() != second) {
    return false;
  }
  *out =
      absl::UnixEpoch() + absl::Seconds(civil - absl::CivilSecond(1970, 1, 1));
  return true;
}

// absl::ParseTime also takes "infinite-future" and spaces around.
bool ParseRfc3339(absl::string_view text, absl::Time* out) {
  if (ParseWholeSeconds(text, out)) return true;
  if (text.size() < 20 || !absl::ascii_isdigit(text.front()) ||
      absl::ascii_isspace(text.back()) || text[10] != 'T') {
    return false;
  }
  return absl::ParseTime(absl::RFC3339_full, text, out, nullptr);
}

}  // namespace

std::string DescribeValue(JsonValue value) {
  switch (value.type()) {
    case Type::kAbsent:
      return "null";
    case Type::kBool:
      return value.boolean() ? "true" : "false";
    case Type::kInteger:
    case Type::kNumber:
      return absl::StrCat("the number ", value.number_text());
    case Type::kText: {
      size_t size = value.text().size();
      if (size > 64) {
        // Cut before a character, not inside it.
        size = 64;
        while (size > 0 && (value.text()[size] & 0xc0) == 0x80) --size;
      }
      return absl::StrCat("the text \"",
                          absl::Utf8SafeCEscape(value.text().substr(0, size)),
                          size < value.text().size() ? "...\"" : "\"");
    }
    case Type::kList:
      return "a list";
    case Type::kObject:
      return "an object";
  }
  return "";
}

FieldReader::FieldReader(JsonValue root, std::vector<FieldProblem>* problems)
    : value_(root), problems_(problems) {}

FieldReader::FieldReader(const FieldReader* parent, absl::string_view name,
                         int64_t index, JsonValue value)
    : parent_(parent),
      name_(name),
      index_(index),
      value_(value),
      problems_(parent->problems_) {}

FieldReader FieldReader::Object(absl::string_view name) const& {
  return FieldReader(this, name, -1, ObjectOf(name));
}

void FieldReader::Read(absl::string_view name, std::string* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  if (value.type() != Type::kText) return WrongType(name, value, kWantText);
  out->assign(value.text().data(), value.text().size());
}

void FieldReader::Read(absl::string_view name,
                       std::optional<std::string>* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  if (value.type() != Type::kText) return WrongType(name, value, kWantText);
  *out = std::string(value.text());
}

void FieldReader::Read(absl::string_view name, bool* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  if (value.type() != Type::kBool) {
    return WrongType(name, value, "true or false");
  }
  *out = value.boolean();
}

void FieldReader::Read(absl::string_view name, int64_t* out) const {
  std::optional<int64_t> number;
  Read(name, &number);
  if (number.has_value()) *out = *number;
}

void FieldReader::Read(absl::string_view name, uint64_t* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  if (value.type() != Type::kInteger || value.integer() < 0) {
    return WrongType(name, value, "a whole number of 0 or more");
  }
  *out = static_cast<uint64_t>(value.integer());
}

void FieldReader::Read(absl::string_view name,
                       std::optional<int64_t>* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  if (value.type() != Type::kInteger) return WrongType(name, value, kWantWhole);
  *out = value.integer();
}

void FieldReader::Read(absl::string_view name, absl::Time* out) const {
  std::optional<absl::Time> time;
  Read(name, &time);
  if (time.has_value()) *out = *time;
}

void FieldReader::Read(absl::string_view name,
                       std::optional<absl::Time>* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  absl::Time time;
  if (value.type() != Type::kText || !ParseRfc3339(value.text(), &time)) {
    return WrongType(name, value, kWantTime);
  }
  *out = time;
}

void FieldReader::Read(absl::string_view name,
                       std::vector<std::string>* out) const {
  const JsonValue list = ListOf(name);
  out->reserve(out->size() + list.size());
  int64_t index = 0;
  list.ForEachItem([&](JsonValue item) {
    if (item.type() == Type::kText) {
      out->emplace_back(item.text());
    } else if (item.present()) {
      WrongType(absl::StrCat(name, "[", index, "]"), item, kWantText);
    }
    ++index;
  });
}

void FieldReader::Read(absl::string_view name, StringMap* out) const {
  ReadExcept(name, "", out);
}

void FieldReader::ReadExcept(absl::string_view name, absl::string_view skip,
                             StringMap* out) const {
  const JsonValue map = ObjectOf(name);
  MapEntries entries;
  entries.reserve(map.size());
  map.ForEachField([&](absl::string_view key, JsonValue value) {
    if (!value.present() || key == skip) return;
    if (value.type() != Type::kText)
      return WrongTypeIn(name, key, value, kWantText);
    entries.emplace_back(key, value.text());
  });
  out->InsertOrAssign(absl::MakeSpan(entries));
}

void FieldReader::ReadQuantities(absl::string_view name,
                                 ResourceList* out) const {
  const JsonValue map = ObjectOf(name);
  MapEntries entries;
  entries.reserve(map.size());
  std::list<std::string> numbers;  // of which `entries` has views
  map.ForEachField([&](absl::string_view key, JsonValue value) {
    switch (value.type()) {
      case Type::kAbsent:
        return;
      case Type::kText:
        entries.emplace_back(key, value.text());
        return;
      case Type::kInteger:
      case Type::kNumber:
        entries.emplace_back(key, numbers.emplace_back(value.number_text()));
        return;
      default:
        WrongTypeIn(name, key, value, "a quantity");
    }
  });
  out->InsertOrAssign(absl::MakeSpan(entries));
}

void FieldReader::ReadWithin(absl::string_view name, int64_t least,
                             int64_t most, int64_t* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  if (value.type() != Type::kInteger || value.integer() < least ||
      value.integer() > most) {
    return WrongType(name, value,
                     absl::StrCat("a whole number from ", least, " to ", most));
  }
  *out = value.integer();
}

void FieldReader::ReadChoice(absl::string_view name,
                             std::initializer_list<absl::string_view> legal,
                             std::string* out) const {
  const JsonValue value = value_.Field(name);
  if (!value.present()) return;
  if (value.type() == Type::kText) {
    for (absl::string_view choice : legal) {
      if (value.text() != choice) continue;
      *out = std::string(choice);
      return;
    }
  }
  WrongType(name, value, absl::StrJoin(legal, " or "));
}

void FieldReader::ForEach(
    absl::string_view name,
    absl::FunctionRef<void(const FieldReader&)> visit) const {
  ForEachOf(name, ListOf(name), visit);
}

void FieldReader::ForEachOf(
    absl::string_view name, JsonValue list,
    absl::FunctionRef<void(const FieldReader&)> visit) const {
  int64_t index = 0;
  list.ForEachItem([&](JsonValue item) {
    const bool object = item.type() == Type::kObject;
    if (item.present() && !object) {
      WrongType(absl::StrCat(name, "[", index, "]"), item, "an object");
    }
    visit(FieldReader(this, name, index++, object ? item : JsonValue()));
  });
}

JsonValue FieldReader::ObjectOf(absl::string_view name) const {
  const JsonValue object = value_.Field(name);
  if (!object.present() || object.type() == Type::kObject) return object;
  WrongType(name, object, "an object");
  return {};
}

JsonValue FieldReader::ListOf(absl::string_view name) const {
  const JsonValue list = value_.Field(name);
  if (!list.present() || list.type() == Type::kList) return list;
  WrongType(name, list, "a list");
  return {};
}

void FieldReader::AddProblem(absl::string_view name,
                             absl::string_view message) const {
  std::string path = absl::StrCat(Path(), Step(name));
  if (!path.empty() && path.front() == '.') path.erase(0, 1);
  problems_->push_back({std::move(path), std::string(message)});
}

void FieldReader::WrongType(absl::string_view name, JsonValue value,
                            absl::string_view want) const {
  AddProblem(name,
             absl::StrCat("found ", DescribeValue(value), ", want ", want));
}

void FieldReader::WrongTypeIn(absl::string_view map, absl::string_view key,
                              JsonValue value, absl::string_view want) const {
  FieldReader(this, map, -1, JsonValue()).WrongType(key, value, want);
}

std::string FieldReader::Path() const {
  if (parent_ == nullptr) return "";
  std::string path = absl::StrCat(parent_->Path(), Step(name_));
  if (index_ >= 0) absl::StrAppend(&path, "[", index_, "]");
  return path;
}

}  // namespace gpubinder
