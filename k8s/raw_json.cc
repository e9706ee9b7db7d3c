#include "k8s/raw_json.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/check.h"
#include "proto/utf8.h"
#include "simdjson.h"

namespace gpubinder {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr size_t kMaxMessage = 256;
constexpr int64_t kMaxRetryAfterSeconds = 3600;

absl::Status Damaged(absl::string_view what, simdjson::error_code code) {
  return absl::DataLossError(
      absl::StrCat(what, ": ", simdjson::error_message(code)));
}

// The text of a string field, or empty if it is absent.
simdjson::error_code TakeText(ondemand::object& object, std::string_view field,
                              std::string& out) {
  std::string_view text;
  const simdjson::error_code code =
      object.find_field_unordered(field).get_string().get(text);
  if (code == simdjson::NO_SUCH_FIELD) return simdjson::SUCCESS;
  if (code != simdjson::SUCCESS) return code;
  out.assign(text.data(), text.size());
  return simdjson::SUCCESS;
}

// One walk over metadata: its keys come in no promised order.
simdjson::error_code TakeMetadata(ondemand::object& object, RawObject& out) {
  ondemand::object metadata;
  simdjson::error_code code =
      object.find_field_unordered("metadata").get_object().get(metadata);
  if (code != simdjson::SUCCESS) return code;
  for (auto field : metadata) {
    std::string_view key;
    code = field.unescaped_key().get(key);
    if (code != simdjson::SUCCESS) return code;
    std::string* const target = key == "name"        ? &out.name
                                : key == "namespace" ? &out.name_space
                                : key == "uid"       ? &out.uid
                                : key == "resourceVersion"
                                    ? &out.resource_version
                                    : nullptr;
    if (target == nullptr) continue;
    std::string_view text;
    code = field.value().get_string().get(text);
    if (code != simdjson::SUCCESS) return code;
    target->assign(text.data(), text.size());
  }
  return simdjson::SUCCESS;
}

simdjson::error_code TakeRaw(ondemand::object& object, RawObject& out) {
  std::string_view raw;
  const simdjson::error_code code = object.raw_json().get(raw);
  if (code != simdjson::SUCCESS) return code;
  // The scanner's text reaches to the next token.
  out.json = std::string(absl::StripTrailingAsciiWhitespace(AbslView(raw)));
  return simdjson::SUCCESS;
}

absl::Status TakeObject(ondemand::object& object, absl::string_view what,
                        RawObject& out) {
  simdjson::error_code code = TakeMetadata(object, out);
  if (code == simdjson::SUCCESS) code = TakeRaw(object, out);
  if (code != simdjson::SUCCESS) return Damaged(what, code);
  if (out.name.empty() || out.uid.empty() || out.resource_version.empty()) {
    return absl::DataLossError(
        absl::StrCat(what, " \"", out.name_space, "/", out.name,
                     "\" lacks one of metadata.name, uid and resourceVersion"));
  }
  return absl::OkStatus();
}

absl::Status TakeItems(ondemand::array items,
                       const std::function<void(RawObject)>& on_item) {
  for (auto item : items) {
    ondemand::object object;
    const simdjson::error_code code = item.get_object().get(object);
    if (code != simdjson::SUCCESS) return Damaged("list item", code);
    RawObject out;
    if (absl::Status s = TakeObject(object, "list item", out); !s.ok()) {
      return s;
    }
    on_item(std::move(out));
  }
  return absl::OkStatus();
}

std::optional<WatchLine::Type> TypeOf(std::string_view name) {
  if (name == "ADDED") return WatchLine::Type::kAdded;
  if (name == "MODIFIED") return WatchLine::Type::kModified;
  if (name == "DELETED") return WatchLine::Type::kDeleted;
  if (name == "BOOKMARK") return WatchLine::Type::kBookmark;
  if (name == "ERROR") return WatchLine::Type::kError;
  return std::nullopt;
}

}  // namespace

bool IsJsonObject(absl::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  return parser.parse(text.data(), text.size()).get_object().get(object) ==
         simdjson::SUCCESS;
}

void TakeStatusObject(absl::string_view text, ApiError& error) {
  simdjson::dom::parser parser;
  simdjson::dom::object status;
  std::string_view kind;
  if (parser.parse(text.data(), text.size()).get_object().get(status) !=
          simdjson::SUCCESS ||
      status["kind"].get(kind) != simdjson::SUCCESS || kind != "Status") {
    const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
    error.message = Utf8Within(trimmed, kMaxMessage);
    return;
  }
  std::string_view words;
  if (status["reason"].get(words) == simdjson::SUCCESS) error.reason = words;
  if (status["message"].get(words) == simdjson::SUCCESS) error.message = words;
  int64_t number = 0;
  if (error.code == 0 && status["code"].get(number) == simdjson::SUCCESS &&
      number >= 100 && number <= 599) {
    error.code = static_cast<int>(number);
  }
  if (status["details"]["retryAfterSeconds"].get(number) == simdjson::SUCCESS &&
      number > 0 && number <= kMaxRetryAfterSeconds &&
      error.retry_after == absl::ZeroDuration()) {
    error.retry_after = absl::Seconds(number);
  }
}

absl::StatusOr<ListPage> SplitList(
    std::string page, const std::function<void(RawObject)>& on_item) {
  page.reserve(page.size() + simdjson::SIMDJSON_PADDING);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object list;
  simdjson::error_code code =
      parser.iterate(page.data(), page.size(), page.capacity()).get(document);
  if (code == simdjson::SUCCESS) code = document.get_object().get(list);
  if (code != simdjson::SUCCESS) return Damaged("list", code);

  // In the order of the keys, so that the page is walked once whichever of
  // metadata and items comes first.
  ListPage result;
  bool has_items = false;
  for (auto field : list) {
    std::string_view key;
    code = field.unescaped_key().get(key);
    if (code != simdjson::SUCCESS) return Damaged("list", code);
    if (key == "metadata") {
      ondemand::object metadata;
      code = field.value().get_object().get(metadata);
      if (code == simdjson::SUCCESS) {
        code = TakeText(metadata, "resourceVersion", result.resource_version);
      }
      if (code == simdjson::SUCCESS) {
        code = TakeText(metadata, "continue", result.continue_token);
      }
      if (code != simdjson::SUCCESS) return Damaged("list metadata", code);
    } else if (key == "items") {
      has_items = true;
      ondemand::value value = field.value();
      if (value.is_null()) continue;  // Go writes an empty slice so
      ondemand::array items;
      code = value.get_array().get(items);
      if (code != simdjson::SUCCESS) return Damaged("list items", code);
      if (absl::Status s = TakeItems(items, on_item); !s.ok()) return s;
    }
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return absl::DataLossError("list: text after its end");
  }
  if (!has_items || result.resource_version.empty()) {
    return absl::DataLossError("list lacks items or metadata.resourceVersion");
  }
  return result;
}

absl::StatusOr<WatchLine> ReadWatchLine(absl::string_view line) {
  const simdjson::padded_string padded(line.data(), line.size());
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object event;
  std::string_view name;
  simdjson::error_code code = parser.iterate(padded).get(document);
  if (code == simdjson::SUCCESS) code = document.get_object().get(event);
  if (code == simdjson::SUCCESS) {
    code = event.find_field_unordered("type").get_string().get(name);
  }
  if (code != simdjson::SUCCESS) return Damaged("watch event", code);
  const std::optional<WatchLine::Type> type = TypeOf(name);
  if (!type.has_value()) {
    return absl::DataLossError(absl::StrCat(
        "watch event of unknown type \"", AbslView(name.substr(0, 64)), "\""));
  }
  WatchLine result{.type = *type};
  ondemand::object object;
  code = event.find_field_unordered("object").get_object().get(object);
  if (code != simdjson::SUCCESS) return Damaged("watch event", code);
  if (*type == WatchLine::Type::kError) {
    code = TakeRaw(object, result.object);
    if (code != simdjson::SUCCESS) return Damaged("watch error", code);
    TakeStatusObject(result.object.json, result.error);
    return result;
  }
  if (*type == WatchLine::Type::kBookmark) {
    code = TakeMetadata(object, result.object);
    if (code != simdjson::SUCCESS) return Damaged("bookmark", code);
    if (result.object.resource_version.empty()) {
      return absl::DataLossError("bookmark lacks metadata.resourceVersion");
    }
    return result;
  }
  absl::Status taken = TakeObject(object, "watch event", result.object);
  if (!taken.ok()) return taken;
  return result;
}

}  // namespace gpubinder
