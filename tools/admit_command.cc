#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tools/commands.h"
#include "tools/effect_row.h"
#include "tools/input.h"
#include "tools/json_yaml.h"
#include "tools/offline_flags.h"
#include "tools/plan_run.h"
#include "tools/text_files.h"
#include "tools/text_table.h"
#include "webhook/admission_review.h"
#include "webhook/review.h"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

void PrintHelp(const std::vector<Flag>& flags, std::ostream& out) {
  out << "usage: gpubinder admit -f REVIEW -f OBJECTS... [flags]\n\n"
         "Answers one AdmissionReview (admission.k8s.io/v1) of a "
         "VirtualMachineInstance or a Pod\nas the webhooks would in a cluster "
         "that holds the objects: allowed with a patch and the\nclaims it "
         "attaches, or refused and why. Nothing is written.\n\n"
         "Exit codes: 0 answered, allowed or not, 2 usage or bad input, 3 a "
         "file cannot be read.\n\n"
         "flags:\n"
      << FlagsHelp(flags);
}

bool IsReview(const InputText& text) {
  const Json json = Json::parse(text.json, nullptr, false);
  return json.is_object() && json.contains("kind") &&
         json["kind"] == "AdmissionReview";
}

// Takes the one review out of the texts.
absl::StatusOr<InputText> TakeReview(std::vector<InputText>& texts) {
  std::optional<InputText> review;
  std::vector<InputText> others;
  for (InputText& text : texts) {
    if (!IsReview(text)) {
      others.push_back(std::move(text));
    } else if (review.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(text.where, ": a second AdmissionReview, the first is ",
                       review->where));
    } else {
      review = std::move(text);
    }
  }
  if (!review.has_value()) {
    return absl::InvalidArgumentError("no AdmissionReview among the objects");
  }
  texts = std::move(others);
  return *std::move(review);
}

struct Answered {
  std::string uid;
  ReviewAnswer answer;
};

absl::StatusOr<Answered> Answer(const OfflineArgs& args,
                                const Console& console) {
  const absl::StatusOr<Config> config = OfflineConfig(args, console);
  if (!config.ok()) return config.status();
  absl::StatusOr<std::vector<InputText>> texts =
      ReadTextFiles(args.files, console.in);
  if (!texts.ok()) return texts.status();
  const absl::StatusOr<InputText> review = TakeReview(*texts);
  if (!review.ok()) return review.status();
  const absl::StatusOr<Input> input = ObjectsOf(*texts, args.name_space);
  if (!input.ok()) return input.status();
  const std::string skipped = SkippedText(*input);
  if (!skipped.empty()) console.err << "gpubinder admit: " << skipped << "\n";
  const absl::Time now = args.now.value_or(absl::Now());
  const absl::StatusOr<PlanRun> run =
      RunPlanPasses(*input, {.now = now, .config = *config, .most_passes = 0});
  if (!run.ok()) return run.status();
  const absl::StatusOr<AdmissionRequest> request = ParseReview(review->json);
  if (!request.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(review->where, ": ", request.status().message()));
  }
  return Answered{
      .uid = request->uid,
      .answer = ReviewRequest(*request, LiveReads{}, run->snapshot, now)};
}

Json AnswerDocument(const Answered& answered) {
  Json effects = Json::array();
  for (const v1::Effect& effect : answered.answer.effects) {
    effects.push_back(EffectRow(effect));
  }
  return {{"response",
           Json::parse(InnerResponseJson(answered.uid, answered.answer))},
          {"effects", std::move(effects)}};
}

// An operation a row, and below it its value, or the items of a list.
void AddPatchRows(const std::string& patch, std::vector<TextRow>& rows) {
  if (patch.empty()) return;
  for (const Json& operation : Json::parse(patch)) {
    const Json& value = operation["value"];
    std::vector<std::string> items;
    if (value.is_array()) {
      for (const Json& item : value) items.push_back(item.dump());
    } else {
      items.push_back(value.dump());
    }
    rows.push_back({.cells = {{.text = "patch"},
                              {.text = absl::StrCat(
                                   operation["op"].get<std::string>(), " ",
                                   operation["path"].get<std::string>())}},
                    .below = absl::StrJoin(items, " ")});
  }
}

void PrintAnswer(const ReviewAnswer& answer, std::ostream& out) {
  std::vector<TextRow> rows;
  if (answer.allowed) {
    rows.push_back({.cells = {{.text = "allowed"}}});
  } else {
    rows.push_back({.cells = {{.text = "refused"}, {.text = answer.reason}},
                    .below = answer.message});
  }
  for (const std::string& warning : answer.warnings) {
    rows.push_back({.cells = {{.text = "warning"}}, .below = warning});
  }
  AddPatchRows(answer.patch, rows);
  for (const v1::Effect& effect : answer.effects) {
    rows.push_back(
        {.cells = {{.text = "attaches"},
                   {.text = absl::StrCat(effect.target().namespace_(), "/",
                                         effect.target().name())}}});
  }
  out << TextTable(rows, TextStyle::kPlain);
}

}  // namespace

int RunAdmit(Args args, const Console& console) {
  OfflineArgs offline;
  std::vector<Flag> flags = {OutputFlag("table|json|yaml", &offline)};
  std::vector<Flag> more = OfflineFlags(&offline);
  std::move(more.begin(), more.end(), std::back_inserter(flags));
  absl::StatusOr<ParsedFlags> parsed = ParseFlags(args, flags);
  if (!parsed.ok()) return Fail("admit", parsed.status(), console);
  if (parsed->help) {
    PrintHelp(flags, console.out);
    return kExitDone;
  }
  std::move(parsed->operands.begin(), parsed->operands.end(),
            std::back_inserter(offline.files));
  if (offline.files.empty()) {
    return Fail("admit",
                absl::InvalidArgumentError("no AdmissionReview: want -f FILE, "
                                           "or -f - for stdin"),
                console);
  }
  const absl::StatusOr<Answered> answered = Answer(offline, console);
  if (!answered.ok()) return Fail("admit", answered.status(), console);
  if (offline.output == "json") {
    console.out << AnswerDocument(*answered).dump(
                       2, ' ', false, Json::error_handler_t::replace)
                << "\n";
  } else if (offline.output == "yaml") {
    console.out << YamlText(AnswerDocument(*answered));
  } else {
    PrintAnswer(answered->answer, console.out);
  }
  return kExitDone;
}

}  // namespace gpubinder
