// H3 and H4: what the pass writes of its verdicts in the memory of a set, and
// as Warnings.

#include <algorithm>
#include <cctype>
#include <cstring>
#include <tuple>

#include "reconciler/naive/bench.h"
#include "reconciler/naive/text.h"

namespace gpubinder::naive {
namespace {

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

// What is said where no node has a reason.
std::string WithoutLines(const SetView& view) {
  uint64_t nodes = 0;
  for (const NodeGroup& group : view.verdict.judged.groups()) {
    nodes += group.nodes;
  }
  if (nodes == 0) return "there are no nodes";
  return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") +
         " would fit";
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
          ReasonWord(detail.reason()),
          detail.reason() == v1::VOLUME_NOT_REACHABLE ? detail.claim()
                                                      : detail.resource());
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
    if (!about.second.empty()) text += " " + about.second;
    if (about.first == "InsufficientUnits") {
      text += " (most free " + std::to_string(line.free) + ", wanted " +
              std::to_string(line.wanted) + ")";
    }
    texts.push_back(text);
  }
  if (texts.empty()) texts.push_back(WithoutLines(view));
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
  // A tenant may have taken the annotation off meanwhile.
  if ((set.vm == nullptr || !set.vm->claims.present) &&
      (set.vmi == nullptr || !set.vmi->claims.present)) {
    return false;
  }
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

// Whether the write is about something else than reason and message too: then
// they may go with it.
bool ChangesMore(const GpuClaimSet& memory, const v1::WriteClaimSet& write) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::set<Key> before, after;
  for (const SetSummaryLine& line : memory.summary) {
    before.insert({line.reason, line.resource, line.key});
  }
  for (const v1::SummaryLine& line : write.summary()) {
    after.insert({ReasonWord(line.reason()), line.resource(), line.key()});
  }
  return write.take_over() || write.has_owner() || write.has_ended_vmi() ||
         write.set_claims() || (write.set_summary() && before != after) ||
         (write.has_node_name() && write.node_name() != memory.node_name) ||
         (write.has_vmi_uid() && write.vmi_uid() != memory.vmi_uid) ||
         (write.has_pod_uid() && write.pod_uid() != memory.pod_uid);
}

// The Event first, then the status that says the same.
void JudgeEvent(Bench& bench, const SetState& set, const Telling& told,
                v1::Reason reason, int64_t transition) {
  if (told.warnings.empty()) return;
  if (told.warnings[0] > told.reasons[0]) {
    bench.Fault(set.key, "H4: the status comes before its Event");
  }
  const v1::Effect& warning = bench.result->effects[told.warnings[0]];
  JudgeWarning(bench, set, warning, reason, transition);
  if (warning.emit_warning().note() !=
      bench.result->effects[told.reasons[0]].write_claim_set().message()) {
    bench.Fault(set.key, "H4: Event and status say different things");
  }
}

void JudgeMemory(Bench& bench, const SetState& set, const SetView& view) {
  const v1::Reason reason = view.verdict.reason;
  const GpuClaimSet* memory = MemoryOf(bench.world, set);
  const std::string before = memory == nullptr ? "" : memory->reason;
  const int64_t transitions = memory == nullptr ? 0 : memory->transitions;
  const Telling told = FindTelling(bench, set);
  // What is no success is a change for each VMI: the last one's Warnings went
  // with it.
  const bool another = memory != nullptr && set.vmi != nullptr &&
                       memory->vmi_uid != set.vmi->meta.uid &&
                       reason != v1::PLACED;
  const bool news = reason != v1::REASON_UNSPECIFIED &&
                    (ReasonWord(reason) != before || another);
  const bool may = MayBeTold(bench.world, set, memory) &&
                   !IsTerminating(bench.world, set.name_space);
  if (told.reasons.size() > 1 || told.warnings.size() > 1) {
    bench.Fault(set.key, "H4: is told twice in one pass");
  }
  if (news && may && told.reasons.empty()) {
    bench.Fault(set.key, "H3: " + ReasonWord(reason) + " is news after '" +
                             before + "', and is not written");
  }
  const bool warned = news && reason != v1::PLACED && set.vmi != nullptr &&
                      !told.reasons.empty();
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
  if (!news && memory != nullptr && !ChangesMore(*memory, write) &&
      WithoutNumbers(memory->message) == WithoutNumbers(write.message())) {
    bench.Fault(set.key, "H3: its memory is written, and means what it did: " +
                             write.message());
  }
  if (warned) JudgeEvent(bench, set, told, reason, transitions + 1);
}

// A memory that is taken over is reset: what the same pass wrote to it or sent
// because of it would be forgotten.
void JudgeTakenOver(Bench& bench) {
  for (const v1::Effect& reset : bench.result->effects) {
    if (!reset.write_claim_set().take_over()) continue;
    for (const v1::Effect& effect : bench.result->effects) {
      const bool writes = effect.target().uid() == reset.target().uid() &&
                          (effect.has_record_rejection() ||
                           effect.write_claim_set().has_ended_vmi());
      const bool calls = effect.set_key() == reset.set_key() &&
                         (IsEndingCall(effect) || !CallOf(effect).empty());
      if (writes || calls) {
        bench.Fault(reset.set_key(), "needs a memory that it takes over first");
      }
    }
  }
}

}  // namespace

std::string WithoutNumbers(const std::string& text) {
  std::string left;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    auto named = [](char c) {
      return std::isalnum(c) != 0 || std::strchr("-./_", c) != nullptr;
    };
    const bool word = (i > 0 && named(text[i - 1])) ||
                      (end < text.size() && named(text[end]));
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
    JudgeConditions(bench, set, found->second->verdict.reason);
    if (set.of_vm) JudgeMemory(bench, set, *found->second);
  }
  JudgeTakenOver(bench);
  JudgeClasses(bench);
}

}  // namespace gpubinder::naive
