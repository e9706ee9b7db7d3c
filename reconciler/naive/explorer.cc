#include "reconciler/naive/explorer.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace gpubinder::naive {
namespace {

constexpr int kMostPasses = 20;

// What becomes of an effect that the pass does not have is nothing.
std::string FateWith(int effects, const std::string& apply) {
  const std::vector<std::string> words = absl::StrSplit(apply, ' ');
  int number = 0;
  if (words.size() < 2 || !absl::SimpleAtoi(words[1], &number)) return apply;
  if (words[0] == "crash-after") {
    return absl::StrCat("crash-after ", std::min(number, effects));
  }
  return number > effects ? "apply" : apply;
}

// The state before the pass, with what becomes of the pass.
StateDigest Fated(const StateDigest& before, const std::string& fate) {
  StateHash hash;
  hash.Add(before.high);
  hash.Add(before.low);
  hash.Add(absl::string_view(fate));
  return hash.digest();
}

}  // namespace

void Explorer::Explore(const SmallScope& start, int64_t depth) {
  if (!tally_.Judge(start.mistakes(), start.commands())) return;
  ++counts_.passes;
  ++counts_.judged;
  const StateDigest state = start.Digest();
  ++counts_.states;
  left_[state] = depth;
  if (depth > 0) {
    Visit(start, state, depth);
  } else {
    SmallScope end = start;
    Settle(end);
  }
  counts_.histories += Orders(state, depth);
}

void Explorer::Visit(const SmallScope& scope, const StateDigest& state,
                     int64_t left) {
  std::vector<std::pair<SmallScope, StateDigest>> next;
  next_[state].clear();
  for (int event = 0; event < EventCount(); ++event) {
    const std::optional<Step> step = scope.StepOf(event);
    if (!step.has_value()) continue;
    SmallScope then = scope;
    const std::optional<StateDigest> to = Take(then, state, *step, left - 1);
    if (!to.has_value()) continue;
    if (left == 1) {
      Settle(then);
    } else {
      next.emplace_back(std::move(then), *to);
    }
  }
  for (auto& [then, to] : next) {
    // Another way may have led there meanwhile, and gone further.
    if (left_[to] == left - 1) Visit(then, to, left - 1);
  }
}

std::optional<StateDigest> Explorer::Take(SmallScope& scope,
                                          const StateDigest& from,
                                          const Step& step, int64_t left) {
  scope.Begin(step);
  const StateDigest before = scope.Digest();
  auto judged = judged_.find(before);
  std::string fate = step.apply;
  if (judged != judged_.end()) fate = FateWith(judged->second, fate);
  bool ran = false;
  auto after = after_.find(Fated(before, fate));
  if (after == after_.end()) {
    if (!Pass(scope, before, fate)) return std::nullopt;
    ran = true;
    fate = FateWith(judged_[before], fate);
    // An end that has settled need not be known again.
    const bool ends = left == 0 && scope.effects() == 0 && !scope.waits();
    const StateDigest key = Fated(before, fate);
    after = after_.emplace(key, ends ? key : scope.Digest()).first;
  }
  const StateDigest to = after->second;
  next_[from].push_back(to);
  auto [followed, is_new] = left_.emplace(to, left);
  if (is_new) ++counts_.states;
  if (!is_new && followed->second >= left) return std::nullopt;
  followed->second = left;
  if (!ran && !Pass(scope, before, fate)) return std::nullopt;
  return to;
}

bool Explorer::Pass(SmallScope& scope, const StateDigest& before,
                    const std::string& apply) {
  const bool is_new = !judged_.contains(before);
  scope.Pass(apply, is_new ? Judged::kAnew : Judged::kBefore);
  ++counts_.passes;
  if (!is_new) return true;
  ++counts_.judged;
  judged_[before] = scope.effects();
  return tally_.Judge(scope.mistakes(), scope.commands());
}

void Explorer::Settle(SmallScope& scope) {
  // With the same objects at the same time a pass decides the same again.
  if (!scope.waits() && scope.effects() == 0) return;
  if (scope.waits()) scope.Resume();
  std::vector<StateDigest> way;
  for (int i = 0; i < kMostPasses; ++i) {
    way.push_back(scope.Digest());
    if (settling_.contains(way.back())) break;
    if (!Pass(scope, way.back(), "apply")) return;
    if (scope.effects() == 0) break;
    if (i + 1 == kMostPasses) {
      tally_.Judge({"does not settle"}, scope.commands());
      return;
    }
  }
  settling_.insert(way.begin(), way.end());
}

int64_t Explorer::Orders(const StateDigest& state, int64_t left) {
  if (left == 0) return 1;
  auto [known, is_new] = orders_.emplace(std::pair(state, left), 0);
  if (!is_new) return known->second;
  int64_t orders = 0;
  for (const StateDigest& to : next_[state]) orders += Orders(to, left - 1);
  return orders_[{state, left}] = orders;
}

}  // namespace gpubinder::naive
