#include "reconciler/model/pod_request.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "reconciler/model/label_syntax.h"
#include "reconciler/model/object_parts.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/quantity.h"
#include "reconciler/model/saturating.h"

namespace gpubinder {
namespace {

// What a message repeats of somebody else's text: its start, as plain ASCII,
// since a cut may fall inside a UTF-8 character.
std::string Quoted(absl::string_view text) {
  return absl::CHexEscape(text.substr(0, 40));
}

// Where a resource list stands; put together only for a problem.
struct Place {
  absl::string_view before, container, after;
};

// What `list` says of the resource, 0 when nothing.
int64_t Read(const ResourceList& list, absl::string_view resource,
             const Place& place, std::vector<FieldProblem>* problems) {
  const auto entry = list.find(resource);
  if (entry == list.end()) return 0;
  const Units units = RequestUnits(entry->second);
  if (units.malformed) {
    problems->push_back({absl::StrCat(place.before, place.container,
                                      place.after, "[", resource, "]"),
                         absl::StrCat("is \"", Quoted(entry->second),
                                      "\", must be a quantity of 0 or more")});
  }
  return units.value;
}

// Of containers and init containers together.
int64_t ContainersRequest(const Pod& pod, absl::string_view resource,
                          std::vector<FieldProblem>* problems) {
  Place place = {"spec.containers[", "", "].resources.requests"};
  int64_t running = 0;
  for (const Container& container : pod.containers) {
    place.container = container.name;
    running = SaturatingAdd(
        running, Read(container.requests, resource, place, problems));
  }
  place.before = "spec.initContainers[";
  int64_t sidecars = 0, starting = 0;
  for (const Container& container : pod.init_containers) {
    place.container = container.name;
    const int64_t with_sidecars = SaturatingAdd(
        sidecars, Read(container.requests, resource, place, problems));
    if (container.restart_always) sidecars = with_sidecars;
    starting = std::max(starting, with_sidecars);
  }
  return std::max(SaturatingAdd(running, sidecars), starting);
}

bool CountsForWholePod(const Pod& pod, absl::string_view resource) {
  return (resource == "cpu" || resource == "memory" ||
          absl::StartsWith(resource, "hugepages-")) &&
         pod.pod_requests.contains(resource);
}

void CollectExtended(const ResourceList& list,
                     absl::btree_set<absl::string_view>* names) {
  for (const auto& [name, quantity] : list) {
    if (IsExtendedResource(name)) names->insert(name);
  }
}

}  // namespace

PodRequest EffectiveRequest(const Pod& pod, absl::string_view resource) {
  PodRequest request;
  request.units =
      CountsForWholePod(pod, resource)
          ? Read(pod.pod_requests, resource, Place{"spec.resources.requests"},
                 &request.problems)
          : ContainersRequest(pod, resource, &request.problems);
  request.units = SaturatingAdd(
      request.units,
      Read(pod.overhead, resource, Place{"spec.overhead"}, &request.problems));
  return request;
}

bool IsExtendedResource(absl::string_view name) {
  return absl::StrContains(name, '/') &&
         !absl::StrContains(name, "kubernetes.io/") &&
         !absl::StartsWith(name, "requests.") &&
         IsQualifiedName(absl::StrCat("requests.", name));
}

ExtendedPodRequests ExtendedRequests(const Pod& pod) {
  absl::btree_set<absl::string_view> names;
  for (const Container& container : pod.containers) {
    CollectExtended(container.requests, &names);
  }
  for (const Container& container : pod.init_containers) {
    CollectExtended(container.requests, &names);
  }
  CollectExtended(pod.overhead, &names);
  ExtendedPodRequests requests;
  for (absl::string_view name : names) {
    PodRequest request = EffectiveRequest(pod, name);
    if (request.units > 0) requests.units.emplace_back(name, request.units);
    std::move(request.problems.begin(), request.problems.end(),
              std::back_inserter(requests.problems));
  }
  return requests;
}

}  // namespace gpubinder
