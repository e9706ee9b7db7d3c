#include "reconciler/model/reason.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/decision.pb.h"

namespace gpubinder {
namespace {

struct Named {
  v1::Reason reason;
  absl::string_view name;
};
constexpr Named kNames[] = {
    {v1::INVALID_CLAIMS, "InvalidClaims"},
    {v1::CLAIM_NOT_FOUND, "ClaimNotFound"},
    {v1::CLAIM_ATTACHED_ELSEWHERE, "ClaimAttachedElsewhere"},
    {v1::CLAIM_BEING_DELETED, "ClaimBeingDeleted"},
    {v1::CLASS_NOT_FOUND, "ClassNotFound"},
    {v1::CLASS_BEING_DELETED, "ClassBeingDeleted"},
    {v1::COUNT_ABOVE_MAXIMUM, "CountAboveMaximum"},
    {v1::NOT_ENTITLED, "NotEntitled"},
    {v1::NAME_TAKEN, "NameTaken"},
    {v1::MALFORMED_OBJECT, "MalformedObject"},
    {v1::OVER_BUDGET, "OverBudget"},
    {v1::FOREIGN_GATE, "ForeignGate"},
    {v1::START_REFUSED_BY_API, "StartRefusedByAPI"},
    {v1::FEATURE_DISABLED, "FeatureDisabled"},
    {v1::NOT_SCHEDULED, "NotScheduled"},
    {v1::STARTING, "Starting"},
    {v1::NODE_NOT_READY, "NodeNotReady"},
    {v1::KUBEVIRT_NOT_READY, "KubeVirtNotReady"},
    {v1::NODE_CORDONED, "NodeCordoned"},
    {v1::NODE_BEING_DELETED, "NodeBeingDeleted"},
    {v1::UNTOLERATED_TAINT, "UntoleratedTaint"},
    {v1::CLASS_SELECTOR_MISMATCH, "ClassSelectorMismatch"},
    {v1::RESOURCE_NOT_SERVED, "ResourceNotServed"},
    {v1::INSUFFICIENT_UNITS, "InsufficientUnits"},
    {v1::POD_SELECTOR_MISMATCH, "PodSelectorMismatch"},
    {v1::POD_AFFINITY_MISMATCH, "PodAffinityMismatch"},
    {v1::SCHEDULING_CLASS_MISMATCH, "SchedulingClassMismatch"},
    {v1::VOLUME_NOT_REACHABLE, "VolumeNotReachable"},
    {v1::REJECTED_BY_NODE, "RejectedByNode"},
    {v1::MALFORMED_QUANTITY, "MalformedQuantity"},
    {v1::NODE_GONE, "NodeGone"},
    {v1::NODE_LOST_CAPACITY, "NodeLostCapacity"},
    {v1::NODE_TAINTED, "NodeTainted"},
    {v1::NODE_MISMATCH, "NodeMismatch"},
    {v1::NODE_UNAVAILABLE, "NodeUnavailable"},
    {v1::NO_NODE_FITS, "NoNodeFits"},
    {v1::PLACED, "Placed"},
    {v1::PLACED_ON_CORDONED_NODE, "PlacedOnCordonedNode"},
    {v1::SERVING, "Serving"},
    {v1::NO_SERVING_NODE, "NoServingNode"},
};

// The numbers of those reasons that have some, with a leading space.
std::string Numbers(const v1::ReasonDetail& detail) {
  switch (detail.reason()) {
    case v1::INSUFFICIENT_UNITS:
      return absl::StrCat(" needs ", detail.wanted(), ", free ", detail.free());
    case v1::COUNT_ABOVE_MAXIMUM:
      return absl::StrCat(" needs ", detail.wanted(), ", at most ",
                          detail.limit());
    case v1::OVER_BUDGET:
      return absl::StrCat(" needs ", detail.wanted(), ", used ", detail.used(),
                          " of ", detail.limit());
    case v1::NODE_LOST_CAPACITY:
      return absl::StrCat(" allocatable ", detail.allocatable(), ", booked ",
                          detail.booked());
    case v1::REJECTED_BY_NODE:
      return absl::StrCat(
          " until ",
          absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ",
                           absl::FromUnixSeconds(detail.until_unix_seconds()),
                           absl::UTCTimeZone()));
    default:
      return "";
  }
}

std::string OneLine(absl::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), absl::ascii_iscntrl, ' ');
  return line;
}

}  // namespace

absl::string_view ReasonName(v1::Reason reason) {
  for (const Named& named : kNames) {
    if (named.reason == reason) return named.name;
  }
  return "";
}

std::optional<v1::Reason> ReasonByName(absl::string_view name) {
  for (const Named& named : kNames) {
    if (named.name == name) return named.reason;
  }
  return std::nullopt;
}

std::string ReasonText(const v1::ReasonDetail& detail) {
  std::string text(ReasonName(detail.reason()));
  const auto add = [&text](absl::string_view before, const std::string& what) {
    if (!what.empty()) absl::StrAppend(&text, before, what);
  };
  add(" ", detail.object());
  add(" field ", detail.field());
  add(" ", detail.resource());
  add(" ", detail.taint());
  add(" ", detail.key());
  add(" pool ", detail.pool());
  add(" claim ", detail.claim());
  add(" volume ", detail.volume());
  add(" class ", detail.class_name());
  text += Numbers(detail);
  add(": ", OneLine(detail.text()));
  return text;
}

}  // namespace gpubinder
