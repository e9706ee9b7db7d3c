#include "reconciler/model/explanation.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "reconciler/model/reason.h"

namespace gpubinder {
namespace {

bool IsSame(const v1::ReasonDetail& a, const v1::ReasonDetail& b) {
  return a.reason() == b.reason() && a.resource() == b.resource() &&
         a.wanted() == b.wanted() && a.free() == b.free() &&
         a.allocatable() == b.allocatable() && a.booked() == b.booked() &&
         a.raw() == b.raw() && a.taint() == b.taint() &&
         a.class_name() == b.class_name() && a.claim() == b.claim() &&
         a.volume() == b.volume() &&
         a.until_unix_seconds() == b.until_unix_seconds() &&
         a.key() == b.key() && a.pool() == b.pool() && a.used() == b.used() &&
         a.limit() == b.limit() && a.object() == b.object() &&
         a.field() == b.field() && a.text() == b.text();
}

bool AreSame(
    const google::protobuf::RepeatedPtrField<v1::ReasonDetail>& recorded,
    const std::vector<v1::ReasonDetail>& reasons) {
  return std::equal(recorded.begin(), recorded.end(), reasons.begin(),
                    reasons.end(), IsSame);
}

std::string LineText(const NodeLine& line) {
  std::string text =
      absl::StrCat(line.nodes, line.nodes == 1 ? " node " : " nodes ",
                   ReasonName(line.reason));
  if (!line.resource.empty()) absl::StrAppend(&text, " ", line.resource);
  if (!line.claim.empty()) absl::StrAppend(&text, " ", line.claim);
  if (line.reason == v1::INSUFFICIENT_UNITS) {
    absl::StrAppend(&text, " (most free ", line.most_free, ", wanted ",
                    line.wanted, ")");
  }
  return text;
}

// No node has a reason: there is none, or only a pod that cannot leave its own
// node keeps the set from them.
std::string WithoutReasons(const JudgedNodes& judged) {
  if (judged.empty()) return "there are no nodes";
  const uint32_t nodes = judged.groups()[0].nodes;
  return absl::StrCat(nodes, nodes == 1 ? " node" : " nodes",
                      " would fit, but the VM's pod is elsewhere");
}

// Cuts at a character, not inside one: the text begins with a reason's name.
std::string Bounded(std::string text) {
  if (text.size() <= kMostMessageBytes) return text;
  size_t end = kMostMessageBytes - 3;
  while ((static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

// Whether message[begin, end) is a word of its own.
bool StandsAlone(absl::string_view message, size_t begin, size_t end) {
  const bool starts = begin == 0 || absl::StrContains(" (", message[begin - 1]);
  const bool ends =
      end == message.size() || absl::StrContains(" ,;)", message[end]);
  return starts && ends;
}

}  // namespace

v1::Reason FirstReason(const std::vector<v1::ReasonDetail>& details) {
  v1::Reason first = v1::NO_NODE_FITS;
  for (const v1::ReasonDetail& detail : details) {
    first = std::min(first, detail.reason());
  }
  return first;
}

std::vector<v1::SummaryLine> Summarize(const Verdict& verdict) {
  std::vector<v1::SummaryLine> summary;
  for (const v1::ReasonDetail& detail : verdict.details) {
    v1::SummaryLine& line = summary.emplace_back();
    line.set_reason(detail.reason());
    line.set_resource(detail.resource());
    line.set_key(detail.key().empty() ? detail.claim() : detail.key());
  }
  // Nodes that did not fit are no news once the set is placed, and later passes
  // do not look at them again.
  const bool placed = verdict.reason == v1::PLACED ||
                      verdict.reason == v1::PLACED_ON_CORDONED_NODE;
  if (placed) return summary;
  for (const NodeLine& counted : verdict.judged.lines()) {
    v1::SummaryLine& line = summary.emplace_back();
    line.set_reason(counted.reason);
    line.set_resource(counted.resource);
    line.set_key(counted.claim);
    line.set_nodes(counted.nodes);
    line.set_example(counted.example);
  }
  if (summary.size() > kMostSummaryLines) summary.resize(kMostSummaryLines);
  return summary;
}

std::string MessageOf(const Verdict& verdict) {
  std::vector<std::string> parts;
  for (const v1::ReasonDetail& detail : verdict.details) {
    parts.push_back(ReasonText(detail));
  }
  if (verdict.reason == v1::NO_NODE_FITS) {
    for (const NodeLine& line : verdict.judged.lines()) {
      parts.push_back(LineText(line));
    }
    if (parts.empty()) parts.push_back(WithoutReasons(verdict.judged));
    return Bounded(absl::StrCat("NoNodeFits: ", absl::StrJoin(parts, ", ")));
  }
  if (parts.empty() && !verdict.node.empty()) {
    return Bounded(
        absl::StrCat(ReasonName(verdict.reason), " on ", verdict.node));
  }
  if (parts.empty()) return std::string(ReasonName(verdict.reason));
  return Bounded(absl::StrJoin(parts, "; "));
}

std::string MeaningOf(absl::string_view message) {
  std::string meaning;
  for (size_t i = 0; i < message.size();) {
    size_t end = i;
    while (end < message.size() && absl::ascii_isdigit(message[end])) ++end;
    // Digits within a name are no count: nvidia.com/A10 is not A30.
    if (end > i && StandsAlone(message, i, end)) {
      meaning += '#';
      i = end;
      continue;
    }
    end = std::max(end, i + 1);
    // "1 node" and "2 nodes" mean the same.
    if (!(absl::EndsWith(meaning, "# node") && message[i] == 's')) {
      absl::StrAppend(&meaning, message.substr(i, end - i));
    }
    i = end;
  }
  return meaning;
}

bool MeanTheSame(absl::string_view one, absl::string_view other) {
  return one == other || MeaningOf(one) == MeaningOf(other);
}

void FillGroups(const Verdict& verdict, v1::Explanation& explanation) {
  for (const v1::ReasonDetail& detail : verdict.details) {
    *explanation.add_set_reasons() = detail;
  }
  for (const NodeGroup& group : verdict.judged.groups()) {
    v1::NodeGroup& proto = *explanation.add_groups();
    for (const v1::ReasonDetail& detail : *group.reasons) {
      *proto.add_reasons() = detail;
      if (detail.reason() == v1::INSUFFICIENT_UNITS &&
          proto.most_free() < detail.free()) {
        proto.set_most_free(detail.free());
      }
    }
    proto.set_nodes(group.nodes);
    proto.set_example(group.example);
  }
}

bool HasReasons(const v1::Explanation& explanation, const Verdict& verdict) {
  return AreSame(explanation.set_reasons(), verdict.details);
}

bool HasGroups(const v1::Explanation& explanation, const JudgedNodes& judged) {
  return std::equal(explanation.groups().begin(), explanation.groups().end(),
                    judged.groups().begin(), judged.groups().end(),
                    [](const v1::NodeGroup& recorded, const NodeGroup& group) {
                      return recorded.nodes() == group.nodes &&
                             recorded.example() == group.example &&
                             AreSame(recorded.reasons(), *group.reasons);
                    });
}

}  // namespace gpubinder
