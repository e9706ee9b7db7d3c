#include "k8s/embedded/table_print.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "k8s/embedded/json_value.h"
#include "nlohmann/json.hpp"

namespace gpubinder::embedded {
namespace {

constexpr char kNone[] = "<none>";
constexpr char kRole[] = "node-role.kubernetes.io/";

const Json& ConditionOf(const Json& object, absl::string_view type) {
  for (const Json& one : At(object, {"status", "conditions"})) {
    if (TextAt(one, {"type"}) == type) return one;
  }
  return Member(Json(), "");
}

size_t SizeOf(const Json& list) { return list.is_array() ? list.size() : 0; }

std::string PodReady(const Json& pod) {
  int ready = 0;
  for (const Json& one : At(pod, {"status", "containerStatuses"})) {
    if (Member(one, "ready") == true) ++ready;
  }
  return absl::StrCat(ready, "/", SizeOf(At(pod, {"spec", "containers"})));
}

std::string PodStatus(const Json& pod) {
  if (!At(pod, {"metadata", "deletionTimestamp"}).is_null()) {
    return "Terminating";
  }
  if (const std::string reason = TextAt(pod, {"status", "reason"});
      !reason.empty()) {
    return reason;
  }
  const std::string scheduled =
      TextAt(ConditionOf(pod, "PodScheduled"), {"reason"});
  if (scheduled == "SchedulingGated") return scheduled;
  return TextAt(pod, {"status", "phase"});
}

std::string PodRestarts(const Json& pod) {
  int64_t restarts = 0;
  for (const Json& one : At(pod, {"status", "containerStatuses"})) {
    restarts += NumberAt(one, {"restartCount"}, 0);
  }
  return absl::StrCat(restarts);
}

std::string NodeStatus(const Json& node) {
  const std::string ready = TextAt(ConditionOf(node, "Ready"), {"status"});
  std::string status = ready == "True"    ? "Ready"
                       : ready == "False" ? "NotReady"
                                          : "Unknown";
  if (At(node, {"spec", "unschedulable"}) == true) {
    status += ",SchedulingDisabled";
  }
  return status;
}

std::string NodeRoles(const Json& node) {
  std::vector<std::string> roles;
  const Json& labels = At(node, {"metadata", "labels"});
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      absl::string_view role = key;
      if (role.substr(0, sizeof(kRole) - 1) == kRole) {
        roles.emplace_back(role.substr(sizeof(kRole) - 1));
      }
    }
  }
  return roles.empty() ? kNone : absl::StrJoin(roles, ",");
}

std::string EventObject(const Json& event) {
  return absl::AsciiStrToLower(TextAt(event, {"involvedObject", "kind"})) +
         "/" + TextAt(event, {"involvedObject", "name"});
}

Json ComputedCell(const std::string& path, const Json& object) {
  if (path == "@podReady") return PodReady(object);
  if (path == "@podStatus") return PodStatus(object);
  if (path == "@podRestarts") return PodRestarts(object);
  if (path == "@nodeStatus") return NodeStatus(object);
  if (path == "@nodeRoles") return NodeRoles(object);
  if (path == "@eventObject") return EventObject(object);
  const Json& data = Member(object, "data");
  return data.is_object() ? data.size() : 0;  // @dataCount
}

Json CellOf(const Resource& resource, const PrinterColumn& column,
            const Json& object, absl::Time now) {
  if (column.path[0] == '@') return ComputedCell(column.path, object);
  const Json& found = FindByPath(object, column.path);
  if (column.type == "date") {
    const auto time = TimeOf(found);
    return time.has_value() ? AgeText(now - *time) : "<unknown>";
  }
  if (found.is_null()) {
    // Custom resources print nothing where there is nothing.
    return resource.is_custom ? Json() : Json(kNone);
  }
  if (found.is_structured()) return DumpJson(found);
  return found;
}

Json ColumnDefinition(const std::string& name, const std::string& type,
                      int priority) {
  return {{"name", name},
          {"type", type == "date" ? "string" : type},
          {"format", name == "Name" ? "name" : ""},
          {"description", ""},
          {"priority", priority}};
}

}  // namespace

std::string AgeText(absl::Duration age) {
  const int64_t seconds = absl::ToInt64Seconds(age);
  if (seconds < 0) return "0s";
  if (seconds < 120) return absl::StrCat(seconds, "s");
  const auto two = [](int64_t big, const char* unit, int64_t small,
                      const char* rest) {
    return small == 0 ? absl::StrCat(big, unit)
                      : absl::StrCat(big, unit, small, rest);
  };
  const int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (hours < 3) return absl::StrCat(minutes, "m");
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return absl::StrCat(hours, "h");
  if (days < 8) return two(days, "d", hours % 24, "h");
  if (days < 730) return absl::StrCat(days, "d");
  return two(days / 365, "y", days % 365, "d");
}

const Json& FindByPath(const Json& object, absl::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    if (path[0] == '.') {
      path.remove_prefix(1);
      const size_t end = path.find_first_of(".[");
      at = &Member(*at, path.substr(0, end));
      path = end == absl::string_view::npos ? "" : path.substr(end);
      continue;
    }
    // [?(@.type=="X")]
    const size_t from = path.find("=="), end = path.find(")]");
    if (from == absl::string_view::npos || end == absl::string_view::npos) {
      return Member(Json(), "");
    }
    const absl::string_view field = path.substr(5, from - 5);
    const absl::string_view wanted = path.substr(from + 3, end - from - 4);
    const Json* found = nullptr;
    for (const Json& item : *at) {
      if (found == nullptr && TextAt(item, {field}) == wanted) found = &item;
    }
    if (found == nullptr) return Member(Json(), "");
    at = found;
    path.remove_prefix(end + 2);
  }
  return *at;
}

Json TableOf(const Resource& resource, const std::vector<JsonPtr>& objects,
             const TableOptions& options) {
  Json table = {{"kind", "Table"},
                {"apiVersion", "meta.k8s.io/v1"},
                {"metadata", Json::object()},
                {"rows", Json::array()}};
  table["columnDefinitions"].push_back(ColumnDefinition("Name", "string", 0));
  for (const PrinterColumn& column : resource.columns) {
    table["columnDefinitions"].push_back(
        ColumnDefinition(column.name, column.type, column.priority));
  }
  for (const JsonPtr& object : objects) {
    Json cells = {TextAt(*object, {"metadata", "name"})};
    for (const PrinterColumn& column : resource.columns) {
      cells.push_back(CellOf(resource, column, *object, options.now));
    }
    Json row = {{"cells", std::move(cells)}};
    if (options.include_object == "Object") {
      row["object"] = *object;
    } else if (options.include_object != "None") {
      row["object"] = {{"kind", "PartialObjectMetadata"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", Member(*object, "metadata")}};
    }
    table["rows"].push_back(std::move(row));
  }
  return table;
}

}  // namespace gpubinder::embedded
