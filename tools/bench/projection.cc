#include "tools/bench/projection.h"

#include <simdjson.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace gpubinder::bench {
namespace {

namespace ondemand = simdjson::ondemand;

// Every text below the value, one after the other.
void Walk(ondemand::value value, Seen& seen) {
  switch (value.type()) {
    case ondemand::json_type::object:
      for (auto field : value.get_object()) {
        seen.bytes += static_cast<int64_t>(
            std::string_view(field.unescaped_key()).size());
        Walk(field.value(), seen);
      }
      return;
    case ondemand::json_type::array:
      for (auto item : value.get_array()) Walk(item.value(), seen);
      return;
    case ondemand::json_type::string:
      ++seen.fields;
      seen.bytes +=
          static_cast<int64_t>(std::string_view(value.get_string()).size());
      return;
    case ondemand::json_type::number:
      ++seen.fields;
      return;
    default:
      return;
  }
}

bool IsOneOf(std::string_view key, std::initializer_list<const char*> keys) {
  for (const char* candidate : keys) {
    if (key == candidate) return true;
  }
  return false;
}

// The fields of one level that are read: what else is there is skipped.
void WalkFields(ondemand::value value, std::initializer_list<const char*> keys,
                Seen& seen) {
  if (value.type() != ondemand::json_type::object) return;
  for (auto field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    if (IsOneOf(key, keys)) Walk(field.value(), seen);
  }
}

void WalkContainers(ondemand::value value, Seen& seen) {
  for (auto item : value.get_array()) {
    WalkFields(item.value(), {"name", "resources", "restartPolicy"}, seen);
  }
}

void WalkPodSpec(ondemand::value value, Seen& seen) {
  for (auto field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    if (IsOneOf(key, {"nodeName", "schedulingGates", "nodeSelector", "affinity",
                      "tolerations", "overhead", "resources", "taints",
                      "unschedulable", "className", "count"})) {
      Walk(field.value(), seen);
    } else if (IsOneOf(key, {"containers", "initContainers"})) {
      WalkContainers(field.value(), seen);
    } else if (key == "domain") {
      WalkFields(field.value(), {"devices", "resources"}, seen);
    } else if (key == "volumes") {
      for (auto item : field.value().get_array()) {
        WalkFields(item.value(), {"persistentVolumeClaim", "dataVolume"}, seen);
      }
    }
  }
}

void WalkTop(ondemand::object object, Seen& seen) {
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "metadata") {
      WalkFields(field.value(),
                 {"name", "namespace", "uid", "resourceVersion", "generation",
                  "creationTimestamp", "deletionTimestamp", "labels",
                  "annotations", "finalizers", "ownerReferences"},
                 seen);
    } else if (key == "spec") {
      WalkPodSpec(field.value(), seen);
    } else if (key == "status") {
      WalkFields(field.value(),
                 {"phase", "reason", "conditions", "allocatable", "nodeName",
                  "activePods", "nominatedNodeName", "boundAt", "resourceName",
                  "rejectedNodes", "attachedTo", "decision"},
                 seen);
    }
  }
}

}  // namespace

struct Projector::Parser {
  ondemand::parser parser;
  std::vector<char> padded;
};

Projector::Projector() : parser_(std::make_unique<Parser>()) {}
Projector::~Projector() = default;

void Projector::Project(absl::string_view json) {
  std::vector<char>& padded = parser_->padded;
  if (padded.size() < json.size() + simdjson::SIMDJSON_PADDING) {
    padded.resize(json.size() + simdjson::SIMDJSON_PADDING);
  }
  std::memcpy(padded.data(), json.data(), json.size());
  ++seen_.objects;
  try {
    ondemand::document document =
        parser_->parser.iterate(padded.data(), json.size(), padded.size());
    WalkTop(document.get_object(), seen_);
  } catch (const simdjson::simdjson_error&) {
    ++seen_.failures;
  }
}

}  // namespace gpubinder::bench
