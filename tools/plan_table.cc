#include "tools/plan_table.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace gpubinder {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Of what every claim has: null is what cannot be read, not what is missing.
std::string Needed(const Json& value) {
  return value.is_null() ? "?" : Text(value);
}

std::string Place(const Json& row) {
  return absl::StrCat(row["namespace"].is_null() ? "" : Text(row["namespace"]),
                      row["namespace"].is_null() ? "" : "/", Text(row["name"]));
}

TextCell ReasonCell(const Json& reason) {
  const std::string text = Text(reason);
  return {.text = text,
          .colour = absl::StartsWith(text, "Placed") ? TextColour::kGood
                                                     : TextColour::kBad};
}

TextCell Number(const Json& value) {
  return {.text = Text(value), .right = true};
}

TextRow Head(const std::vector<std::string>& names, size_t first_number) {
  TextRow row;
  for (const std::string& name : names) {
    row.cells.push_back({.text = name,
                         .colour = TextColour::kHead,
                         .right = row.cells.size() >= first_number});
  }
  return row;
}

constexpr size_t kNoNumbers = 100;

std::string Section(const std::string& title, const std::vector<TextRow>& rows,
                    TextStyle style) {
  if (rows.size() < 2) return "";
  return absl::StrCat(title, "\n", TextTable(rows, style), "\n");
}

std::string Sets(const PlanDocument& plan, TextStyle style) {
  std::vector<TextRow> rows = {
      Head({"NAME", "LAUNCHER", "NODE", "REASON"}, kNoNumbers)};
  plan.ForEachRow(PlanSection::kSets, [&](const Json& set) {
    TextRow row{.cells = {{.text = Place(set)},
                          {.text = Text(set["launcher"])},
                          {.text = Text(set["nodeName"])},
                          ReasonCell(set["reason"])}};
    // "Placed on n1" says nothing that the columns do not.
    if (!set["message"].is_null() && Text(set["reason"]) != "Placed") {
      row.below = MessageLessReason(Text(set["message"]), Text(set["reason"]));
    }
    rows.push_back(std::move(row));
  });
  return Section("SETS", rows, style);
}

std::string Claims(const PlanDocument& plan, TextStyle style) {
  std::vector<TextRow> rows = {
      Head({"NAME", "CLASS", "COUNT", "PHASE", "NODE", "VM"}, kNoNumbers)};
  rows[0].cells[2].right = true;
  plan.ForEachRow(PlanSection::kClaims, [&](const Json& claim) {
    rows.push_back({.cells = {{.text = Place(claim)},
                              {.text = Needed(claim["className"])},
                              {.text = Needed(claim["count"]), .right = true},
                              {.text = Needed(claim["phase"])},
                              {.text = Text(claim["nodeName"])},
                              {.text = Text(claim["vmi"])}}});
  });
  return Section("CLAIMS", rows, style);
}

std::string Nodes(const PlanDocument& plan, TextStyle style) {
  std::vector<TextRow> rows = {
      Head({"NAME", "RESOURCE", "ALLOCATABLE", "BOOKED", "RAW", "FREE"}, 2)};
  plan.ForEachRow(PlanSection::kNodes, [&](const Json& node) {
    for (const Json& resource : node["resources"]) {
      rows.push_back({.cells = {{.text = Text(node["name"])},
                                {.text = Text(resource["name"])},
                                Number(resource["allocatable"]),
                                Number(resource["booked"]),
                                Number(resource["raw"]),
                                Number(resource["free"])}});
    }
    if (node["resources"].empty()) {
      rows.push_back({.cells = {{.text = Text(node["name"])}, {.text = "-"}}});
    }
  });
  return Section("NODES", rows, style);
}

std::string BudgetRows(const PlanDocument& plan, TextStyle style) {
  std::vector<TextRow> rows = {
      Head({"TENANT", "KEY", "LIMIT", "CARVED OUT", "USED"}, 2)};
  plan.ForEachRow(PlanSection::kBudgets, [&](const Json& budget) {
    rows.push_back({.cells = {{.text = Text(budget["tenant"])},
                              {.text = Text(budget["key"])},
                              Number(budget["limit"]),
                              Number(budget["carvedOut"]),
                              Number(budget["used"])}});
  });
  return Section("BUDGETS", rows, style);
}

// The plain fields of an effect in one line.
std::string FieldsText(const Json& fields) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : fields.items()) {
    if (value.is_structured() || value.is_null()) continue;
    parts.push_back(absl::StrCat(name, "=", Text(value)));
  }
  return absl::StrJoin(parts, " ");
}

std::string Changes(const PlanDocument& plan, TextStyle style) {
  std::vector<TextRow> rows = {
      Head({"PASS", "CHANGE", "OF", "FIELDS"}, kNoNumbers)};
  plan.ForEachRow(PlanSection::kEffects, [&](const Json& effect) {
    rows.push_back(
        {.cells = {Number(effect["pass"]),
                   {.text = Text(effect["kind"])},
                   {.text = absl::StrCat(Text(effect["target"]["kind"]), " ",
                                         Place(effect["target"]))},
                   {.text = FieldsText(effect["fields"])}}});
  });
  return Section("CHANGES", rows, style);
}

std::string Malformed(const PlanDocument& plan, TextStyle style) {
  std::vector<TextRow> rows = {Head({"OBJECT", "FIELD"}, kNoNumbers)};
  plan.ForEachRow(PlanSection::kMalformed, [&](const Json& row) {
    rows.push_back(
        {.cells = {{.text = absl::StrCat(Text(row["kind"]), " ", Place(row))},
                   {.text = Text(row["field"])}},
         .below = Text(row["message"])});
  });
  return Section("MALFORMED", rows, style);
}

}  // namespace

std::string PlanTable(const PlanRun& run, const PlanDocument& plan,
                      TextStyle style) {
  const size_t changes = run.effects.size();
  return absl::StrCat(Sets(plan, style), Claims(plan, style),
                      Nodes(plan, style), BudgetRows(plan, style),
                      Changes(plan, style), Malformed(plan, style),
                      run.settled ? "settled after " : "NOT settled after ",
                      run.passes, run.passes == 1 ? " pass, " : " passes, ",
                      changes, changes == 1 ? " change\n" : " changes\n");
}

}  // namespace gpubinder
