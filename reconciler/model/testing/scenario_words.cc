#include "reconciler/model/testing/scenario_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace gpubinder {
namespace {

// By spaces that stand in no quotes; the quotes go.
std::vector<std::string> Tokens(absl::string_view line) {
  std::vector<std::string> tokens;
  std::string token;
  bool quoted = false, any = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any) tokens.push_back(token);
      token.clear();
      any = false;
    } else {
      token += c;
      any = true;
    }
  }
  if (any) tokens.push_back(token);
  return tokens;
}

Requirement RequirementOf(absl::string_view text) {
  auto with = [](absl::string_view key, const char* op,
                 absl::string_view values) {
    return Requirement{.key = std::string(key),
                       .op = op,
                       .values = absl::StrSplit(values, '|')};
  };
  for (const auto& [sign, op] :
       {std::pair<const char*, const char*>{"!=", "NotIn"},
        {"=", "In"},
        {">", "Gt"},
        {"<", "Lt"}}) {
    const size_t at = text.find(sign);
    if (at == absl::string_view::npos) continue;
    return with(text.substr(0, at), op,
                text.substr(at + absl::string_view(sign).size()));
  }
  if (absl::ConsumePrefix(&text, "!")) {
    return {.key = std::string(text), .op = "DoesNotExist"};
  }
  return {.key = std::string(text), .op = "Exists"};
}

std::string RequirementText(const Requirement& requirement) {
  const std::string values = absl::StrJoin(requirement.values, "|");
  const std::string& key = requirement.key;
  if (requirement.op == "In") return absl::StrCat(key, "=", values);
  if (requirement.op == "NotIn") return absl::StrCat(key, "!=", values);
  if (requirement.op == "Gt") return absl::StrCat(key, ">", values);
  if (requirement.op == "Lt") return absl::StrCat(key, "<", values);
  if (requirement.op == "DoesNotExist") return absl::StrCat("!", key);
  return key;
}

}  // namespace

Words::Words(absl::string_view line) {
  for (const std::string& token : Tokens(line)) {
    const size_t equals = token.find('=');
    if (equals == std::string::npos) {
      plain_.push_back(token);
    } else {
      options_.emplace_back(token.substr(0, equals), token.substr(equals + 1));
    }
  }
}

std::optional<std::string> Words::Next() {
  if (plain_.empty()) return std::nullopt;
  std::string word = plain_.front();
  plain_.erase(plain_.begin());
  return word;
}

std::optional<std::string> Words::Take(absl::string_view key) {
  for (auto it = options_.begin(); it != options_.end(); ++it) {
    if (it->first != key) continue;
    std::string value = it->second;
    options_.erase(it);
    return value;
  }
  return std::nullopt;
}

bool Words::TakeFlag(absl::string_view flag) {
  auto found = std::find(plain_.begin(), plain_.end(), flag);
  if (found == plain_.end()) return false;
  plain_.erase(found);
  return true;
}

ResourceList Words::TakeResources() {
  ResourceList resources;
  for (auto it = options_.begin(); it != options_.end();) {
    const bool is_resource =
        absl::StrContains(it->first, "/") || absl::ascii_isupper(it->first[0]);
    if (is_resource) resources[ResourceOfShort(it->first)] = it->second;
    it = is_resource ? options_.erase(it) : std::next(it);
  }
  return resources;
}

std::string Words::Rest() const {
  std::vector<std::string> rest = plain_;
  for (const auto& [key, value] : options_) {
    rest.push_back(absl::StrCat(key, "=", value));
  }
  return absl::StrJoin(rest, " ");
}

std::string ResourceOfShort(absl::string_view name) {
  if (absl::StrContains(name, "/")) return std::string(name);
  return absl::StrCat("nvidia.com/", name);
}

std::pair<std::string, std::string> SplitName(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos) {
    return {kScenarioNamespace, std::string(text)};
  }
  return {std::string(text.substr(0, slash)),
          std::string(text.substr(slash + 1))};
}

std::vector<std::string> SplitList(absl::string_view text) {
  return absl::StrSplit(text, ',', absl::SkipEmpty());
}

StringMap LabelsOf(absl::string_view text) {
  StringMap labels;
  for (const std::string& pair : SplitList(text)) {
    const std::vector<std::string> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    labels[parts[0]] = parts.size() > 1 ? parts[1] : "";
  }
  return labels;
}

std::vector<Taint> TaintsOf(absl::string_view text) {
  std::vector<Taint> taints;
  for (const Toleration& parts : TolerationsOf(text)) {
    taints.push_back(
        {.key = parts.key, .value = parts.value, .effect = parts.effect});
  }
  return taints;
}

std::vector<Toleration> TolerationsOf(absl::string_view text) {
  std::vector<Toleration> tolerations;
  for (const std::string& item : SplitList(text)) {
    Toleration toleration{.op = "Exists"};
    std::string head = item;
    const size_t colon = head.rfind(':');
    if (colon != std::string::npos) {
      toleration.effect = head.substr(colon + 1);
      head = head.substr(0, colon);
    }
    const size_t equals = head.find('=');
    if (equals != std::string::npos) {
      toleration.op = "Equal";
      toleration.value = head.substr(equals + 1);
      head = head.substr(0, equals);
    }
    toleration.key = head;
    tolerations.push_back(toleration);
  }
  return tolerations;
}

NodeSelector TermsOf(absl::string_view text) {
  NodeSelector selector;
  for (const std::string& term_text :
       std::vector<std::string>(absl::StrSplit(text, ';'))) {
    SelectorTerm& term = selector.terms.emplace_back();
    if (term_text == "{}") continue;
    for (absl::string_view part :
         std::vector<absl::string_view>(absl::StrSplit(term_text, '&'))) {
      const bool field = absl::ConsumePrefix(&part, "@");
      Requirement requirement = RequirementOf(part);
      if (field) requirement.key = "metadata.name";
      (field ? term.fields : term.expressions)
          .push_back(std::move(requirement));
    }
  }
  return selector;
}

std::string TermsText(const NodeSelector& selector) {
  std::vector<std::string> terms;
  for (const SelectorTerm& term : selector.terms) {
    std::vector<std::string> parts;
    for (const Requirement& part : term.expressions) {
      parts.push_back(RequirementText(part));
    }
    for (const Requirement& part : term.fields) {
      Requirement named = part;
      if (named.key == "metadata.name") named.key = "@name";
      parts.push_back(RequirementText(named));
    }
    terms.push_back(parts.empty() ? "{}" : absl::StrJoin(parts, "&"));
  }
  return absl::StrJoin(terms, ";");
}

int64_t NumberOf(absl::string_view text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

}  // namespace gpubinder
