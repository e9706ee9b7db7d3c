#include "tools/config_file.h"

#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "tools/config_fields.h"
#include "tools/json_yaml.h"
#include "tools/text_files.h"
#include "tools/yaml_json.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostConfigBytes = 1 << 20;

absl::Status Bad(absl::string_view where, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", message));
}

const ConfigField* FindField(absl::string_view name) {
  for (const ConfigField& field : ConfigFields()) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::string NearestField(absl::string_view name) {
  std::vector<std::string> names;
  for (const ConfigField& field : ConfigFields()) names.push_back(field.name);
  const std::string nearest = NearestName(name, names);
  return nearest.empty() ? "" : absl::StrCat(", did you mean ", nearest);
}

// How YAML must write a field of the type, for errors.
absl::string_view TypeText(ConfigType type) {
  switch (type) {
    case ConfigType::kSwitch:
      return "true or false";
    case ConfigType::kWhole:
      return "a whole number";
    case ConfigType::kText:
    case ConfigType::kChoice:
      return "a text";
    case ConfigType::kDuration:
      return "a duration as in 2m";
    case ConfigType::kBytes:
      return "a size as in 20GiB";
    case ConfigType::kList:
      return "a list of texts";
  }
  return "";
}

// The text that the field's setter reads; nothing for a wrong type.
std::optional<std::string> TextOf(const Json& value, ConfigType type) {
  switch (type) {
    case ConfigType::kSwitch:
      if (!value.is_boolean()) return std::nullopt;
      return value.get<bool>() ? "true" : "false";
    case ConfigType::kWhole:
      if (!value.is_number_integer()) return std::nullopt;
      return value.dump();
    case ConfigType::kDuration:
    case ConfigType::kBytes:
      // 0 needs no unit, nor does a number of bytes.
      if (value.is_number_integer()) return value.dump();
      break;
    default:
      break;
  }
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

absl::Status SetOne(const ConfigField& field, absl::string_view text,
                    Config& config) {
  const absl::Status status = field.set(text, config);
  return status.ok() ? status : Bad(field.name, status.message());
}

absl::Status SetFromJson(const std::string& name, const Json& value,
                         Config& config) {
  const ConfigField* field = FindField(name);
  if (field == nullptr) {
    return Bad(name, absl::StrCat("no such field", NearestField(name)));
  }
  if (value.is_null()) return absl::OkStatus();
  const absl::Status wrong =
      Bad(name, absl::StrCat("found ", value.dump().substr(0, 64), ", want ",
                             TypeText(field->type)));
  if (field->type != ConfigType::kList) {
    const std::optional<std::string> text = TextOf(value, field->type);
    return text.has_value() ? SetOne(*field, *text, config) : wrong;
  }
  if (!value.is_array()) return wrong;
  field->clear(config);
  for (const Json& item : value) {
    if (!item.is_string()) return wrong;
    absl::Status s = SetOne(*field, item.get<std::string>(), config);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status SetFromText(const ConfigField& field, absl::string_view text,
                         Config& config) {
  if (field.type != ConfigType::kList) return SetOne(field, text, config);
  field.clear(config);
  for (absl::string_view item : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (absl::Status s = SetOne(field, item, config); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// The length of the number at the beginning, with its fraction.
size_t NumberLength(absl::string_view text) {
  size_t length = 0;
  while (length < text.size() &&
         (absl::ascii_isdigit(text[length]) || text[length] == '.')) {
    ++length;
  }
  return length;
}

// nothing for a unit that there is not.
std::optional<absl::Duration> UnitAt(absl::string_view* text) {
  if (absl::ConsumePrefix(text, "ns")) return absl::Nanoseconds(1);
  if (absl::ConsumePrefix(text, "us")) return absl::Microseconds(1);
  if (absl::ConsumePrefix(text, "ms")) return absl::Milliseconds(1);
  if (absl::ConsumePrefix(text, "s")) return absl::Seconds(1);
  if (absl::ConsumePrefix(text, "m")) return absl::Minutes(1);
  if (absl::ConsumePrefix(text, "h")) return absl::Hours(1);
  if (absl::ConsumePrefix(text, "d")) return absl::Hours(24);
  return std::nullopt;
}

}  // namespace

absl::StatusOr<absl::Duration> ParseGoDuration(absl::string_view text) {
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("found \"", text.substr(0, 64),
                   "\", want a duration from 0 to 100 years as in 2m, 1h30m, "
                   "250ms or 30d"));
  absl::string_view rest = text;
  if (rest == "0") return absl::ZeroDuration();
  if (rest.empty() || text.size() > 64) return bad;
  absl::Duration sum;
  while (!rest.empty()) {
    const size_t length = NumberLength(rest);
    double number = 0;
    const absl::string_view digits = rest.substr(0, length);
    if (digits.empty() || digits == "." || !absl::SimpleAtod(digits, &number)) {
      return bad;
    }
    rest.remove_prefix(length);
    const std::optional<absl::Duration> unit = UnitAt(&rest);
    if (!unit.has_value()) return bad;
    int64_t whole = 0;
    sum += absl::SimpleAtoi(digits, &whole) ? whole * *unit : number * *unit;
  }
  if (sum > absl::Hours(24 * 365) * 100) return bad;
  return sum;
}

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& [unit, bits] :
       {std::pair{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}) {
    if (absl::ConsumeSuffix(&digits, unit)) shift = bits;
  }
  int64_t value = 0;
  if (digits.empty() || NumberLength(digits) != digits.size() ||
      !absl::SimpleAtoi(digits, &value) ||
      value > (std::numeric_limits<int64_t>::max() >> shift)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found \"", text.substr(0, 64),
                     "\", want a number of bytes as in 1000, 512MiB or 20GiB"));
  }
  return value << shift;
}

absl::Status ReadConfig(absl::string_view text, const std::string& name,
                        Config& config) {
  if (text.size() > kMostConfigBytes) {
    return Bad(name,
               absl::StrCat("is larger than ", kMostConfigBytes, " bytes"));
  }
  const absl::StatusOr<std::vector<YamlDocument>> documents =
      YamlToJson(text, kMostConfigBytes);
  if (!documents.ok()) return Bad(name, documents.status().message());
  if (documents->size() > 1) return Bad(name, "found two documents, want one");
  Config next = config;
  if (!documents->empty()) {
    const Json fields = Json::parse(documents->front().json, nullptr, false);
    if (!fields.is_object()) return Bad(name, "want an object of fields");
    for (const auto& [field, value] : fields.items()) {
      const absl::Status status = SetFromJson(field, value, next);
      if (!status.ok()) return Bad(name, status.message());
    }
  }
  const absl::Status status = CheckConfig(next);
  if (!status.ok()) return Bad(name, status.message());
  config = std::move(next);
  return absl::OkStatus();
}

std::vector<Flag> ConfigFlags(const Config& defaults, ConfigChanges* changes) {
  std::vector<Flag> flags;
  for (const ConfigField& field : ConfigFields()) {
    const std::string value = field.text(defaults);
    Flag flag{.name = field.name,
              .help = absl::StrCat(field.help, " (default ",
                                   value.empty() ? "none" : value, ")")};
    if (field.name == "namespace") flag.name = "binder-namespace";
    switch (field.type) {
      case ConfigType::kSwitch:
        break;
      case ConfigType::kWhole:
        flag.value = "N";
        break;
      case ConfigType::kText:
        flag.value = "TEXT";
        break;
      case ConfigType::kChoice:
        flag.value = "WORD";
        break;
      case ConfigType::kDuration:
        flag.value = "DURATION";
        break;
      case ConfigType::kBytes:
        flag.value = "SIZE";
        break;
      case ConfigType::kList:
        flag.value = "NAMES";
        break;
    }
    flag.set = [&field, changes](absl::string_view text) {
      Config trial;
      const absl::Status status = field.type == ConfigType::kList
                                      ? SetFromText(field, text, trial)
                                      : field.set(text, trial);
      if (status.ok()) changes->emplace_back(field.name, std::string(text));
      return status;
    };
    flags.push_back(std::move(flag));
  }
  return flags;
}

absl::Status ApplyChanges(const ConfigChanges& changes, Config& config) {
  Config next = config;
  for (const auto& [name, text] : changes) {
    const ConfigField* field = FindField(name);
    if (field == nullptr) return Bad(name, "no such field");
    if (absl::Status s = SetFromText(*field, text, next); !s.ok()) return s;
  }
  // What a file alone may say was checked with the file.
  if (absl::Status s = CheckConfig(next); !s.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("flag --", s.message()));
  }
  config = std::move(next);
  return absl::OkStatus();
}

absl::StatusOr<Config> LoadConfig(const std::string& file,
                                  const ConfigChanges& changes,
                                  std::istream& in) {
  Config config;
  if (!file.empty()) {
    const absl::StatusOr<std::string> text = ReadWholeFile(file, in);
    if (!text.ok()) return text.status();
    if (absl::Status s = ReadConfig(*text, file, config); !s.ok()) return s;
  }
  if (absl::Status s = ApplyChanges(changes, config); !s.ok()) return s;
  return config;
}

std::string ConfigYaml(const Config& config) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const ConfigField& field : ConfigFields()) {
    const std::string text = field.text(config);
    if (text == field.text(Config())) continue;
    nlohmann::ordered_json& value = out[field.name];
    if (field.type == ConfigType::kList) {
      value = std::vector<std::string>(
          absl::StrSplit(text, ',', absl::SkipEmpty()));
    } else if (field.type == ConfigType::kSwitch) {
      value = text == "true";
    } else if (int64_t whole = 0; field.type == ConfigType::kWhole &&
                                  absl::SimpleAtoi(text, &whole)) {
      value = whole;
    } else {
      value = text;
    }
  }
  return YamlText(out);
}

}  // namespace gpubinder
