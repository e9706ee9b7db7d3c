#include "reconciler/explain_answers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/check.h"

namespace gpubinder {
namespace {

// Of a repeated message's tag and length.
constexpr size_t kFrameBytes = 8;

template <typename Message>
size_t SizeOf(const Message& message) {
  return message.ByteSizeLong() + kFrameBytes;
}

absl::StatusOr<int> PageSize(int asked, int usual, int most) {
  if (asked < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "page_size is ", asked, ", legal is 0 (the usual) or more"));
  }
  return std::min(asked == 0 ? usual : asked, most);
}

absl::Status BadToken(const std::string& token) {
  return absl::InvalidArgumentError(
      absl::StrCat("page_token is ", token.size(),
                   " bytes that are no next_page_token of an earlier answer"));
}

// "a/b/c" to "a" and "b/c"; nothing without a slash.
std::optional<std::pair<std::string, std::string>> SplitToken(
    const std::string& token) {
  const size_t slash = token.find('/');
  if (slash == std::string::npos) return std::nullopt;
  return std::make_pair(token.substr(0, slash), token.substr(slash + 1));
}

// The explanation, without the last of its groups if it is over half of an
// answer; whether some were left out.
bool AddExplanation(const v1::Explanation& explanation, v1::Explanation& to) {
  if (explanation.ByteSizeLong() <= kMostAnswerBytes / 2) {
    to = explanation;
    return false;
  }
  v1::Explanation cut = explanation;
  cut.clear_groups();
  size_t bytes = SizeOf(cut);
  for (const v1::NodeGroup& group : explanation.groups()) {
    bytes += SizeOf(group);
    if (bytes > kMostAnswerBytes / 2) break;
    *cut.add_groups() = group;
  }
  to = std::move(cut);
  return true;
}

// Adds to the list while there is room; whether all were added.
template <typename Items, typename List>
bool AddAll(const Items& items, size_t& bytes, List& list) {
  for (const auto& item : items) {
    bytes += SizeOf(item);
    if (bytes > kMostAnswerBytes) return false;
    *list.Add() = item;
  }
  return true;
}

bool AddRows(const PublishedSet& set, size_t& bytes,
             v1::ExplainResponse& response) {
  const std::vector<NodeGroup>& groups = set.judged.groups();
  bool whole = true;
  set.judged.ForEachNode([&](const std::string& node, size_t group) {
    if (!whole) return;
    const Reasons& reasons = *groups[group].reasons;
    v1::NodeRow row;
    row.set_node(node);
    row.set_fits(reasons.empty());
    for (const v1::ReasonDetail& detail : reasons) *row.add_reasons() = detail;
    bytes += SizeOf(row);
    whole = bytes <= kMostAnswerBytes;
    if (whole) *response.add_rows() = std::move(row);
  });
  return whole;
}

// The sets that are asked for, one by one: by age, then key, from all
// namespaces.
class Queue {
 public:
  using Place = std::pair<int64_t, std::string>;  // age and key

  // Those behind `after`, where there is one.
  Queue(const PublishedPass& pass, const v1::ListSetsRequest& request,
        const std::optional<Place>& after)
      : waiting_only_(request.waiting_only()) {
    auto add = [&](const PublishedNamespace& space) {
      if (waiting_only_ && space.waiting == 0) return;
      auto next = space.sets.begin();
      if (after.has_value()) {
        next = std::upper_bound(
            space.sets.begin(), space.sets.end(), *after,
            [](const Place& place, const PublishedSet& set) {
              return std::tie(place.first, place.second) <
                     std::tie(set.age_unix_nanos, set.explanation.key());
            });
      }
      Push({next, space.sets.end()});
    };
    if (request.namespace_().empty()) {
      for (const auto& [name, space] : pass.namespaces) add(*space);
      return;
    }
    auto found = pass.namespaces.find(request.namespace_());
    if (found != pass.namespaces.end()) add(*found->second);
  }

  // Null at the end.
  const PublishedSet* Next() {
    if (heads_.empty()) return nullptr;
    Head head = heads_.top();
    heads_.pop();
    const PublishedSet* set = &*head.next++;
    Push(head);
    return set;
  }

 private:
  struct Head {
    std::vector<PublishedSet>::const_iterator next, end;
  };
  struct ComesLater {
    bool operator()(const Head& a, const Head& b) const {
      return std::tie(a.next->age_unix_nanos, a.next->explanation.key()) >
             std::tie(b.next->age_unix_nanos, b.next->explanation.key());
    }
  };

  void Push(Head head) {
    while (head.next != head.end && waiting_only_ && !head.next->waiting()) {
      ++head.next;
    }
    if (head.next != head.end) heads_.push(head);
  }

  const bool waiting_only_;
  std::priority_queue<Head, std::vector<Head>, ComesLater> heads_;
};

}  // namespace

absl::StatusOr<v1::ExplainResponse> AnswerExplain(
    const PublishedPass& pass, const v1::ExplainRequest& request) {
  const std::string& name_space = request.namespace_();
  if (name_space.empty() || request.name().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a namespace and a name are needed, found \"", name_space,
                     "/", request.name(), "\""));
  }
  const PublishedSet* set =
      pass.Find(AbslView(name_space), AbslView(request.name()));
  if (set == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "\"", name_space, "/", request.name(),
        "\" is neither a VM or VMI that names claims nor a claim that is to "
        "be placed, as of sequence ",
        pass.source.sequence()));
  }
  v1::ExplainResponse response;
  *response.mutable_source() = pass.source;
  bool whole =
      !AddExplanation(set->explanation, *response.mutable_explanation());
  auto held = pass.held_writes.find(set->explanation.key());
  if (held != pass.held_writes.end()) {
    *response.mutable_held_write() = held->second;
  }
  size_t bytes = SizeOf(response);
  whole = AddAll(set->members, bytes, *response.mutable_members()) && whole;
  whole =
      AddAll(set->rejections, bytes, *response.mutable_rejections()) && whole;
  if (request.rows()) whole = AddRows(*set, bytes, response) && whole;
  response.set_truncated(!whole);
  return response;
}

absl::StatusOr<v1::ListSetsResponse> AnswerListSets(
    const PublishedPass& pass, const v1::ListSetsRequest& request) {
  const absl::StatusOr<int> size =
      PageSize(request.page_size(), 100, kMostSetsInPage);
  if (!size.ok()) return size.status();
  std::optional<Queue::Place> after;
  if (!request.page_token().empty()) {
    const auto place = SplitToken(request.page_token());
    int64_t age = 0;
    if (!place.has_value() || !absl::SimpleAtoi(place->first, &age)) {
      return BadToken(request.page_token());
    }
    after.emplace(age, place->second);
  }
  Queue queue(pass, request, after);
  v1::ListSetsResponse response;
  *response.mutable_source() = pass.source;
  size_t bytes = SizeOf(response);
  const PublishedSet* last = nullptr;
  while (const PublishedSet* next = queue.Next()) {
    bytes += std::min(SizeOf(next->explanation), kMostAnswerBytes / 2);
    const bool full = response.sets_size() == *size || bytes > kMostAnswerBytes;
    if (full && last != nullptr) {
      response.set_next_page_token(
          absl::StrCat(last->age_unix_nanos, "/", last->explanation.key()));
      break;
    }
    AddExplanation(next->explanation, *response.add_sets());
    last = next;
  }
  return response;
}

absl::StatusOr<v1::ListNodesResponse> AnswerListNodes(
    const PublishedPass& pass, const v1::ListNodesRequest& request) {
  const absl::StatusOr<int> size =
      PageSize(request.page_size(), 1000, kMostUnitsInPage);
  if (!size.ok()) return size.status();
  std::pair<std::string, std::string> after;
  if (!request.page_token().empty()) {
    const auto place = SplitToken(request.page_token());
    if (!place.has_value()) return BadToken(request.page_token());
    after = *place;
  }
  auto node =
      std::lower_bound(pass.nodes.begin(), pass.nodes.end(), after.first,
                       [](const auto& one, const std::string& name) {
                         return one->name < name;
                       });
  v1::ListNodesResponse response;
  *response.mutable_source() = pass.source;
  // A line is at most some 700 bytes: two names and four numbers.
  for (; node != pass.nodes.end(); ++node) {
    for (const v1::NodeUnits& units : (*node)->units) {
      if (std::tie(units.node(), units.resource()) <=
          std::tie(after.first, after.second)) {
        continue;
      }
      if (response.units_size() == *size) {
        const v1::NodeUnits& last = response.units(*size - 1);
        response.set_next_page_token(
            absl::StrCat(last.node(), "/", last.resource()));
        return response;
      }
      *response.add_units() = units;
    }
  }
  return response;
}

}  // namespace gpubinder
