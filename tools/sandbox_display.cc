#include "tools/sandbox_display.h"

#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/reason.h"
#include "tools/effect_line.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

constexpr size_t kIndent = 2;
constexpr size_t kVerb = 9;  // with the space behind it

std::string TextAt(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  if (!object.contains(at) || !object[at].is_string()) return "";
  return object[at].get<std::string>();
}

TextRow RowOf(const SetView& view, const Snapshot& snapshot) {
  const char* launcher = "-";
  if (view.set.launcher.state == LauncherState::kGated) launcher = "gated";
  if (view.set.launcher.state == LauncherState::kPinned) {
    launcher = "pinned";
    const Pod& pod = snapshot.pods()[*view.set.launcher.pod];
    if (pod.phase == "Running") launcher = "running";
  }
  const bool placed = view.verdict.reason == v1::PLACED;
  const std::string reason(ReasonName(view.verdict.reason));
  return {
      .cells = {{.text = absl::StrCat(view.set.name_space, "/", view.set.name)},
                {.text = launcher},
                {.text = view.verdict.node.empty() ? "-" : view.verdict.node},
                {.text = reason,
                 .colour = placed ? TextColour::kGood : TextColour::kBad}},
      .below =
          placed ? "" : MessageLessReason(MessageOf(view.verdict), reason)};
}

// Whether somebody else's write came first, as the webhook's attachment may.
bool IsOvertaken(const v1::Outcome& outcome) { return outcome.code() == 409; }

}  // namespace

std::string WrappedLine(absl::string_view line) {
  const std::string first(kIndent, ' ');
  if (line.size() + kIndent <= kTextColumns || line.size() <= kVerb) {
    return absl::StrCat(first, Printable(line), "\n");
  }
  const std::string rest(2 * kIndent + kVerb, ' ');
  std::string text = absl::StrCat(first, line.substr(0, kVerb));
  for (const std::string& part :
       WrapText(line.substr(kVerb), kTextColumns - rest.size())) {
    absl::StrAppend(&text, text.back() == '\n' ? rest : "", part, "\n");
  }
  return text;
}

void SandboxDisplay::PrintLine(const std::string& line) {
  console_.out << WrappedLine(line) << std::flush;
}

void SandboxDisplay::Pass(const FinishedPass& pass) {
  absl::MutexLock lock(&mutex_);
  if (pass.record.role() == v1::LEADER) {
    uint32_t place = 0;
    for (const v1::Effect& effect : pass.result.effects) {
      std::optional<std::string> line = EffectLine(effect);
      if (line.has_value()) {
        decided_[{pass.record.sequence(), place}] = *std::move(line);
      }
      ++place;
    }
  }
  rows_.clear();
  for (const SetView& view : ViewsOf(pass.snapshot)) {
    TextRow row = RowOf(view, pass.snapshot);
    std::string name = row.cells[0].text;
    rows_.insert_or_assign(std::move(name), std::move(row));
  }
}

void SandboxDisplay::Outcome(const v1::Record& record) {
  const v1::Outcome& outcome = record.outcome();
  absl::MutexLock lock(&mutex_);
  const auto found = decided_.find({outcome.decision(), outcome.effect()});
  if (found == decided_.end()) return;
  const std::string line = std::move(found->second);
  decided_.erase(found);
  if (outcome.kind() == v1::Outcome::APPLIED) {
    PrintLine(line);
    return;
  }
  if (outcome.kind() != v1::Outcome::REFUSED || IsOvertaken(outcome)) return;
  const std::string failed = absl::StrCat(
      line, ": failed with ", outcome.code(), ": ", outcome.message());
  if (said_.insert(failed).second) PrintLine(failed);
}

void SandboxDisplay::Revision(const embedded::StoreEvent& event) {
  if (event.key.resource != "events" ||
      event.type == embedded::StoreEventType::kDeleted ||
      event.object == nullptr) {
    return;
  }
  const Json& object = *event.object;
  if (TextAt(object, "/reason") != "FailedCreate" ||
      TextAt(object, "/involvedObject/kind") != "VirtualMachine") {
    return;
  }
  const std::string message = TextAt(object, "/message");
  constexpr absl::string_view kDenied = "denied the request: ";
  const size_t at = message.find(kDenied.data());
  const std::string line = absl::StrFormat(
      "denied   %s/%s: %s", TextAt(object, "/involvedObject/namespace"),
      TextAt(object, "/involvedObject/name"),
      at == std::string::npos ? message : message.substr(at + kDenied.size()));
  absl::MutexLock lock(&mutex_);
  if (said_.insert(line).second) PrintLine(line);
}

void SandboxDisplay::Say(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  console_.out << text << std::endl;
}

void SandboxDisplay::Table() {
  absl::MutexLock lock(&mutex_);
  if (rows_.empty()) {
    console_.out << "\nno claim, and no VM that names one\n" << std::flush;
    return;
  }
  std::vector<TextRow> rows(1);
  for (const char* name : {"NAME", "LAUNCHER", "NODE", "REASON"}) {
    rows[0].cells.push_back({.text = name, .colour = TextColour::kHead});
  }
  for (const auto& [name, row] : rows_) rows.push_back(row);
  console_.out << "\nSETS\n"
               << TextTable(rows, console_.colour ? TextStyle::kColour
                                                  : TextStyle::kPlain)
               << std::flush;
}

}  // namespace gpubinder
