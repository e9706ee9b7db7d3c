#include "tools/input.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "k8s/json_value.h"
#include "k8s/kinds.h"
#include "k8s/object_codec.h"
#include "tools/yaml_scalar.h"

namespace gpubinder {
namespace {

using Type = JsonValue::Type;

constexpr int kMostLists = 8;

absl::Status Bad(const std::string& where, const std::string& message) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", message));
}

std::string FoundText(JsonValue value) {
  switch (value.type()) {
    case Type::kAbsent:
      return "nothing";
    case Type::kBool:
      return value.boolean() ? "true" : "false";
    case Type::kInteger:
    case Type::kNumber:
      return absl::StrCat("the number ", value.number_text());
    case Type::kText:
      return absl::StrCat("the text \"", value.text().substr(0, 40), "\"");
    case Type::kList:
      return "a list";
    case Type::kObject:
      return "an object";
  }
  return "";
}

// A field that must be a text which is not empty.
absl::StatusOr<std::string> NeedText(const std::string& where, JsonValue parent,
                                     absl::string_view name,
                                     absl::string_view path) {
  const JsonValue value = parent.Field(name);
  if (value.type() == Type::kText && !value.text().empty()) {
    return std::string(value.text());
  }
  return Bad(where,
             absl::StrCat(path, ": found ", FoundText(value), ", want a text"));
}

class Reader {
 public:
  explicit Reader(const std::string& default_namespace)
      : default_namespace_(default_namespace) {
    for (int i = 0; i < kKinds; ++i) {
      const absl::string_view group = kKindPlaces[i].group;
      input_.served[i] = group.empty() || group == "gpu.cozystack.io";
    }
  }

  absl::Status AddText(const InputText& text) {
    absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text.json);
    if (!document.ok()) {
      return Bad(text.where, std::string(document.status().message()));
    }
    return AddValue(text.where, document->root(), text.json);
  }

  absl::StatusOr<Input> Finish() && {
    std::sort(input_.objects.begin(), input_.objects.end(),
              [](const InputObject& a, const InputObject& b) {
                return KeyOf(a) < KeyOf(b);
              });
    return std::move(input_);
  }

 private:
  static std::tuple<size_t, const std::string&, const std::string&> KeyOf(
      const InputObject& object) {
    const ObjectMeta& meta = MetaOf(object.object);
    return {object.object.index(), meta.name_space, meta.name};
  }

  absl::Status AddValue(const std::string& where, JsonValue root,
                        const std::string& json) {
    if (root.type() != Type::kObject) {
      return Bad(where,
                 absl::StrCat("found ", FoundText(root), ", want an object"));
    }
    const JsonValue kind = root.Field("kind");
    if (kind.type() == Type::kText && absl::EndsWith(kind.text(), "List") &&
        (kind.text() == "List" || root.Field("items").present())) {
      return AddList(where, root);
    }
    return AddObject(where, root, json);
  }

  absl::Status AddList(const std::string& where, JsonValue list) {
    const JsonValue items = list.Field("items");
    if (items.present() && items.type() != Type::kList) {
      return Bad(where, absl::StrCat("items: found ", FoundText(items),
                                     ", want a list"));
    }
    if (++lists_ > kMostLists) return Bad(where, "lists are nested too deep");
    // The items of a typed list may leave out what the list's kind says.
    absl::string_view kind = list.Field("kind").text();
    absl::ConsumeSuffix(&kind, "List");
    const JsonValue version = list.Field("apiVersion");
    absl::Status status;
    int number = 0;
    items.ForEachItem([&](JsonValue item) {
      ++number;
      if (!status.ok()) return;
      const std::string place = absl::StrCat(where, ", item ", number);
      std::string json = WriteJson(item, PathTree({}));
      if (!kind.empty() && item.type() == Type::kObject &&
          version.type() == Type::kText && !item.Field("kind").present() &&
          json.size() > 2) {
        json = absl::StrCat("{\"kind\":", JsonQuoted(kind),
                            ",\"apiVersion\":", JsonQuoted(version.text()), ",",
                            json.substr(1));
      }
      status = AddText({place, std::move(json)});
    });
    --lists_;
    return status;
  }

  absl::Status AddObject(const std::string& where, JsonValue root,
                         const std::string& json) {
    const absl::StatusOr<std::string> kind =
        NeedText(where, root, "kind", "kind");
    if (!kind.ok()) return kind.status();
    const absl::StatusOr<std::string> version =
        NeedText(where, root, "apiVersion", "apiVersion");
    if (!version.ok()) return version.status();
    absl::StatusOr<AnyObject> any = DecodeAnyObject(json);
    if (!any.ok()) return Bad(where, std::string(any.status().message()));
    if (any->defines.has_value()) {
      input_.served[static_cast<size_t>(*any->defines)] = true;
      return absl::OkStatus();
    }
    if (!any->object.has_value()) {
      if (absl::StartsWith(*version, "gpu.cozystack.io/")) {
        return Bad(where, absl::StrCat("kind: found \"", kind->substr(0, 64),
                                       "\", want GPUClass, GPUClaim or "
                                       "GPUClaimSet of gpu.cozystack.io"));
      }
      if (any->kind != "CustomResourceDefinition") ++input_.skipped[*kind];
      return absl::OkStatus();
    }
    return AddModelled(where, root, json, *std::move(any));
  }

  absl::Status AddModelled(const std::string& where, JsonValue root,
                           const std::string& json, AnyObject any) {
    const JsonValue metadata = root.Field("metadata");
    if (metadata.type() != Type::kObject) {
      return Bad(where, absl::StrCat(any.kind, ": metadata: found ",
                                     FoundText(metadata), ", want an object"));
    }
    const absl::StatusOr<std::string> name = NeedText(
        where, metadata, "name", absl::StrCat(any.kind, ": metadata.name"));
    if (!name.ok()) return name.status();
    const JsonValue name_space = metadata.Field("namespace");
    if (name_space.present() && name_space.type() != Type::kText) {
      return Bad(where, absl::StrCat(any.kind, " ", *name,
                                     ": metadata.namespace: found ",
                                     FoundText(name_space), ", want a text"));
    }
    const Kind kind = KindOf(*any.object);
    std::string where_it_lives;
    if (PlaceOf(kind).namespaced) {
      where_it_lives =
          any.name_space.empty() ? default_namespace_ : any.name_space;
    }
    std::visit([&](auto& o) { o.meta.name_space = where_it_lives; },
               *any.object);
    const std::string title =
        absl::StrCat(any.kind, " ", where_it_lives,
                     where_it_lives.empty() ? "" : "/", *name);
    auto [seen, is_new] = places_.emplace(title, where);
    if (!is_new) {
      return Bad(where,
                 absl::StrCat(title, " stands twice, first in ", seen->second));
    }
    input_.served[static_cast<size_t>(kind)] = true;
    input_.objects.push_back(
        {.where = where, .object = *std::move(any.object), .json = json});
    return absl::OkStatus();
  }

  const std::string default_namespace_;
  Input input_;
  int lists_ = 0;  // that are being read, one in the other
  std::map<std::string, std::string> places_;
};

}  // namespace

absl::StatusOr<Input> ObjectsOf(const std::vector<InputText>& texts,
                                const std::string& default_namespace) {
  Reader reader(default_namespace);
  for (const InputText& text : texts) {
    if (absl::Status status = reader.AddText(text); !status.ok()) {
      return status;
    }
  }
  return std::move(reader).Finish();
}

std::string SkippedText(const Input& input) {
  int objects = 0;
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : input.skipped) {
    objects += count;
    kinds.push_back(absl::StrCat(kind, " ", count));
  }
  if (objects == 0) return "";
  return absl::StrCat(
      "skipped ", objects, objects == 1 ? " object" : " objects",
      " of kinds that are not modelled: ", absl::StrJoin(kinds, ", "));
}

}  // namespace gpubinder
