// H3 and H4: what the pass writes of its verdicts, on claims, in the set's
// memory and as Warnings; and what each class is told.

#include <algorithm>

#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

bool IsSuccess(v1::Reason reason) {
  return reason == v1::PLACED || reason == v1::SERVING;
}

bool IsLoss(const std::string& reason) {
  for (const v1::Reason loss :
       {v1::NODE_GONE, v1::NODE_LOST_CAPACITY, v1::NODE_TAINTED,
        v1::NODE_MISMATCH, v1::NODE_UNAVAILABLE, v1::NO_NODE_FITS}) {
    if (reason == ReasonWord(loss)) return true;
  }
  return false;
}

// Numbers become #, so that what is left is what the text is about.
std::string WithoutNumbers(const std::string& text) {
  std::string left;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const bool word = (i > 0 && std::isalnum(text[i - 1]) != 0) ||
                      (end < text.size() && std::isalpha(text[end]) != 0);
    if (end > i && !word) {
      left += '#';
    } else {
      end = std::max(end, i + 1);
      left += text.substr(i, end - i);
    }
    i = end;
  }
  return left;
}

const Condition* Find(const std::vector<Condition>& conditions,
                      const std::string& type) {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

// --- Claims

// The whole list that the write leaves; nothing for one without.
template <typename Write>
void Overwrite(const Write& write, std::vector<Condition>& conditions) {
  if (write.conditions().empty()) return;
  conditions.clear();
  for (const v1::ConditionEntry& entry : write.conditions()) {
    conditions.push_back({.type = entry.type(),
                          .status = entry.status(),
                          .reason = entry.reason(),
                          .message = entry.message(),
                          .observed_generation = entry.observed_generation()});
  }
}

std::vector<Condition> ConditionsAfter(Bench& bench, const std::string& key,
                                       const std::string& uid,
                                       std::vector<Condition> conditions) {
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.target().uid() != uid) continue;
    if (effect.has_bind_claim()) Overwrite(effect.bind_claim(), conditions);
    if (effect.has_lose_claim()) Overwrite(effect.lose_claim(), conditions);
    if (!effect.has_set_condition()) continue;
    const v1::SetCondition& write = effect.set_condition();
    const Condition* before = Find(conditions, write.type());
    if (before != nullptr && before->status == write.status() &&
        before->reason == ReasonWord(write.reason()) &&
        WithoutNumbers(before->message) == WithoutNumbers(write.message()) &&
        effect.target().kind() == "GPUClaim") {
      bench.Fault(key, "H3: " + write.type() + " is written, and means what " +
                           "it did: " + write.message());
    }
    Overwrite(write, conditions);
    const Condition* after = Find(conditions, write.type());
    if (after == nullptr || after->status != write.status() ||
        after->reason != ReasonWord(write.reason())) {
      bench.Fault(key, "H3: the list holds another " + write.type());
    }
  }
  return conditions;
}

void ExpectCondition(Bench& bench, const std::string& key,
                     const std::string& of, const Condition* found,
                     const std::string& status, const std::string& reason) {
  if (found != nullptr && found->status == status && found->reason == reason) {
    return;
  }
  bench.Fault(
      key,
      "H3: " + of + " is to be " + status + "/" + reason + ", it is " +
          (found == nullptr ? "absent" : found->status + "/" + found->reason));
}

void JudgeBoundCondition(Bench& bench, const SetState& set,
                         const ClaimState& state, v1::Reason reason,
                         const Condition* bound) {
  const std::string of = state.claim->meta.name + " Bound";
  if (state.phase == "Pending") {
    if (IsSuccess(reason)) return;
    ExpectCondition(bench, set.key, of, bound, "False", ReasonWord(reason));
  } else if (state.phase == "Lost") {
    const Condition* before = Find(state.claim->conditions, "Bound");
    if (bound == nullptr || bound->status != "False" ||
        !IsLoss(bound->reason)) {
      ExpectCondition(bench, set.key, of, bound, "False", "(its loss)");
    } else if (before != nullptr && before->status == "False" &&
               state.claim->phase == "Lost" && IsLoss(before->reason) &&
               before->reason != bound->reason) {
      bench.Fault(set.key, "H3: " + of + " forgets the reason of its loss");
    }
  } else if (!CannotBePlaced(set)) {
    ExpectCondition(bench, set.key, of, bound, "True", "Placed");
  }
}

void JudgeGathered(Bench& bench, const SetState& set, const ClaimState& state,
                   v1::Reason reason, const Condition* gathered) {
  const std::string of = state.claim->meta.name + " Gathered";
  const Condition* before = Find(state.claim->conditions, "Gathered");
  const bool placed =
      reason == v1::PLACED || reason == v1::PLACED_ON_CORDONED_NODE;
  if (set.gated != nullptr && !placed && !set.vmi->meta.deleting) {
    return ExpectCondition(bench, set.key, of, gathered, "False",
                           ReasonWord(reason));
  }
  if (before == nullptr && gathered != nullptr) {
    return bench.Fault(set.key, "H3: " + of + ", and it never waited");
  }
}

void JudgeClaims(Bench& bench, const SetState& set, v1::Reason reason) {
  for (const int member : set.members) {
    const ClaimState& state = bench.world.claims[member];
    const std::vector<Condition> after = ConditionsAfter(
        bench, set.key, state.claim->meta.uid, state.claim->conditions);
    if (reason == v1::REASON_UNSPECIFIED) continue;
    JudgeBoundCondition(bench, set, state, reason, Find(after, "Bound"));
    JudgeGathered(bench, set, state, reason, Find(after, "Gathered"));
  }
}

// --- The memory and Warnings

struct Telling {
  std::vector<int> reasons, warnings;  // indices of effects
};

Telling FindTelling(const Bench& bench, const SetState& set) {
  Telling found;
  for (size_t i = 0; i < bench.result->effects.size(); ++i) {
    const v1::Effect& effect = bench.result->effects[i];
    if (effect.set_key() != set.key) continue;
    if (effect.write_claim_set().has_reason() ||
        effect.write_claim_set().has_message()) {
      found.reasons.push_back(static_cast<int>(i));
    }
    if (effect.has_emit_warning())
      found.warnings.push_back(static_cast<int>(i));
  }
  return found;
}

void JudgeWarning(Bench& bench, const SetState& set, const v1::Effect& effect,
                  v1::Reason reason, int64_t transition) {
  const v1::EmitWarning& warning = effect.emit_warning();
  std::string word = ReasonWord(reason);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const std::string name = "gpubinder-" +
                           ShortDigest(set.vmi->meta.uid).substr(0, 12) + "-" +
                           std::to_string(transition) + "-" + word;
  if (warning.name() != name || warning.reason() != reason) {
    bench.Fault(set.key, "H4: the Warning is to be " + name + ", it is " +
                             warning.name());
  }
  if (effect.target().kind() != "VirtualMachineInstance" ||
      effect.target().uid() != set.vmi->meta.uid) {
    bench.Fault(set.key, "H4: the Warning is not on its VMI");
  }
}

// Each line of the summary that the text is to have, by what the nodes say.
std::vector<std::string> SummaryOf(const SetView& view) {
  struct Line {
    uint64_t nodes = 0;
    int64_t free = 0, wanted = 0;
  };
  std::map<std::pair<std::string, std::string>, Line> lines;
  for (const NodeGroup& group : view.verdict.judged.groups()) {
    std::set<std::pair<std::string, std::string>> counted;
    for (const v1::ReasonDetail& detail : *group.reasons) {
      const std::pair<std::string, std::string> about(
          ReasonWord(detail.reason()), detail.resource());
      Line& line = lines[about];
      if (counted.insert(about).second) line.nodes += group.nodes;
      line.free = std::max(line.free, detail.free());
      line.wanted = std::max(line.wanted, detail.wanted());
    }
  }
  std::vector<std::string> texts;
  for (const auto& [about, line] : lines) {
    std::string text = std::to_string(line.nodes) +
                       (line.nodes == 1 ? " node " : " nodes ") + about.first;
    if (about.first == "InsufficientUnits") {
      text += " " + about.second + " (most free " + std::to_string(line.free) +
              ", wanted " + std::to_string(line.wanted) + ")";
    }
    texts.push_back(text);
  }
  return texts;
}

void JudgeText(Bench& bench, const SetState& set, const SetView& view,
               const std::string& text) {
  if (text.size() > 1024) bench.Fault(set.key, "H4: the text is too long");
  const std::string word = ReasonWord(view.verdict.reason);
  if (view.verdict.reason != v1::NO_NODE_FITS || text.size() > 900) return;
  if (text.compare(0, word.size() + 1, word + ":") != 0) {
    bench.Fault(set.key, "H4: the text does not begin with " + word);
  }
  for (const std::string& line : SummaryOf(view)) {
    if (text.find(line) == std::string::npos) {
      bench.Fault(set.key, "H4: '" + line + "' is not in: " + text);
    }
  }
}

bool MayBeTold(const World& world, const SetState& set,
               const GpuClaimSet* memory) {
  if (memory != nullptr) return !memory->meta.deleting.has_value();
  for (const GpuClaimSet* other : world.memories) {
    if (other->meta.name_space == set.name_space &&
        other->meta.name == set.name && other->meta.deleting) {
      return false;
    }
  }
  // Whether a VM that names nothing that is there gets one is not said.
  return !set.members.empty();
}

void JudgeMemory(Bench& bench, const SetState& set, const SetView& view) {
  const v1::Reason reason = view.verdict.reason;
  const GpuClaimSet* memory = MemoryOf(bench.world, set);
  const std::string before = memory == nullptr ? "" : memory->reason;
  const int64_t transitions = memory == nullptr ? 0 : memory->transitions;
  const Telling told = FindTelling(bench, set);
  const bool news =
      reason != v1::REASON_UNSPECIFIED && ReasonWord(reason) != before;
  const bool may = MayBeTold(bench.world, set, memory) &&
                   !IsTerminating(bench.world, set.name_space);
  if (told.reasons.size() > 1 || told.warnings.size() > 1) {
    bench.Fault(set.key, "H4: is told twice in one pass");
  }
  if (news && may && told.reasons.empty()) {
    bench.Fault(set.key, "H3: " + ReasonWord(reason) + " is news after '" +
                             before + "', and is not written");
  }
  const bool warned =
      news && !IsSuccess(reason) && set.vmi != nullptr && !told.reasons.empty();
  if (!warned && !told.warnings.empty()) {
    bench.Fault(set.key, "H4: a Warning without a change of reason");
  }
  // Nothing is added to a VMI that is being deleted; whether its Event counts
  // is not said.
  if (warned && told.warnings.empty() && !set.vmi->meta.deleting) {
    bench.Fault(set.key, "H4: " + ReasonWord(reason) + " gives no Warning");
  }
  if (told.reasons.empty()) return;
  const v1::WriteClaimSet& write =
      bench.result->effects[told.reasons[0]].write_claim_set();
  JudgeText(bench, set, view, write.message());
  if (news &&
      (write.reason() != reason || write.transitions() != transitions + 1)) {
    bench.Fault(set.key, "H4: " + ReasonWord(reason) + " is transition " +
                             std::to_string(transitions + 1) +
                             ", it is written as " +
                             std::to_string(write.transitions()));
  }
  if (!news && write.has_transitions() && write.transitions() != transitions) {
    bench.Fault(set.key, "H4: a transition without a change of reason");
  }
  if (!news && memory != nullptr && !write.take_over() &&
      WithoutNumbers(memory->message) == WithoutNumbers(write.message())) {
    bench.Fault(set.key, "H3: its memory is written, and means what it did: " +
                             write.message());
  }
  if (told.warnings.empty() || !warned) return;
  if (told.warnings[0] > told.reasons[0]) {
    bench.Fault(set.key, "H4: the status comes before its Event");
  }
  const v1::Effect& warning = bench.result->effects[told.warnings[0]];
  JudgeWarning(bench, set, warning, reason, transitions + 1);
  if (warning.emit_warning().note() != write.message()) {
    bench.Fault(set.key, "H4: Event and status say different things");
  }
}

// --- Classes

bool IsServed(const World& world, const GpuClass& of) {
  for (const Node* node : world.nodes) {
    if (ServesClass(world, of, *node)) return true;
  }
  return false;
}

void JudgeClass(Bench& bench, const GpuClass& of) {
  const World& world = bench.world;
  const std::string key = "class " + of.meta.name;
  const std::vector<Condition> after =
      ConditionsAfter(bench, key, of.meta.uid, of.conditions);
  const Condition* before = Find(of.conditions, "Ready");
  const Condition* ready = Find(after, "Ready");
  int writes = 0;
  for (const v1::Effect& effect : bench.result->effects) {
    if (effect.target().uid() == of.meta.uid && effect.has_set_condition()) {
      ++writes;
    }
  }
  const bool served = IsServed(world, of);
  const std::string status = served ? "True" : "False";
  const std::string reason =
      ReasonWord(served ? v1::SERVING : v1::NO_SERVING_NODE);
  const bool right = before != nullptr && before->status == status &&
                     before->reason == reason &&
                     before->observed_generation == of.meta.generation;
  if (writes > (right ? 0 : 1)) {
    bench.Fault(key, "H3: Ready is written, and means what it did");
  }
  // A write that is without answer, or has to wait, is no step's to repeat; a
  // class that cannot be read serves nothing, whether it says so is not said.
  if (of.meta.deleting || !of.meta.problems.empty() ||
      HasToWait(world, "GPUClass", "", of.meta.name, of.meta.uid)) {
    return;
  }
  if (right || (writes == 1 && ready != nullptr && ready->status == status &&
                ready->reason == reason &&
                ready->observed_generation == of.meta.generation)) {
    return;
  }
  bench.Fault(
      key,
      "H3: is to be Ready=" + status + "/" + reason + ", it is " +
          (ready == nullptr ? "absent" : ready->status + "/" + ready->reason));
}

}  // namespace

std::string ReasonWord(v1::Reason reason) {
  std::string word;
  bool start = true;
  for (const char c : v1::Reason_Name(reason)) {
    if (c == '_') {
      start = true;
      continue;
    }
    word += start ? c : static_cast<char>(std::tolower(c));
    start = false;
  }
  if (word == "StartRefusedByApi") return "StartRefusedByAPI";
  if (word == "KubevirtNotReady") return "KubeVirtNotReady";
  return word;
}

void JudgeTold(Bench& bench) {
  for (const SetState& set : bench.world.sets) {
    auto found = bench.views.find(set.key);
    if (found == bench.views.end() || set.frozen || found->second->frozen) {
      continue;
    }
    JudgeClaims(bench, set, found->second->verdict.reason);
    if (set.of_vm) JudgeMemory(bench, set, *found->second);
  }
  for (const GpuClass* of : bench.world.classes) JudgeClass(bench, *of);
}

}  // namespace gpubinder::naive
