// One command line of a scenario, taken apart: a verb, plain words, and
// options of the form key=value (a value with spaces stands in double quotes).

#ifndef RECONCILER_MODEL_TESTING_SCENARIO_WORDS_H_
#define RECONCILER_MODEL_TESTING_SCENARIO_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reconciler/model/object_parts.h"

namespace gpubinder {

// The namespace of a name without one.
inline constexpr char kScenarioNamespace[] = "t";

class Words {
 public:
  explicit Words(absl::string_view line);

  // The next plain word, or nothing.
  std::optional<std::string> Next();
  // The value of the option, or nothing; a second call gives the next one of
  // that key.
  std::optional<std::string> Take(absl::string_view key);
  // Whether the plain word is there.
  bool TakeFlag(absl::string_view flag);
  // Options whose key is a resource: it has a '/' or begins with a capital,
  // which stands for nvidia.com/<key>.
  ResourceList TakeResources();
  // What nobody took, for the report of a mistake.
  std::string Rest() const;

 private:
  std::vector<std::string> plain_;
  std::vector<std::pair<std::string, std::string>> options_;
};

// nvidia.com/H100 of H100; a name with a '/' is itself.
std::string ResourceOfShort(absl::string_view name);

// Namespace and name of "ns/name" or "name".
std::pair<std::string, std::string> SplitName(absl::string_view text);

std::vector<std::string> SplitList(absl::string_view text);

// a=1,b=2
StringMap LabelsOf(absl::string_view text);

// key=value:Effect,key:Effect
std::vector<Taint> TaintsOf(absl::string_view text);

// key=value:Effect (Equal), key:Effect and key (Exists).
std::vector<Toleration> TolerationsOf(absl::string_view text);

// Terms by ';', requirements of a term by '&': k=v and k!=v (values by '|'),
// k, !k, k>1, k<1, @name=node for matchFields; {} is an empty term.
NodeSelector TermsOf(absl::string_view text);
std::string TermsText(const NodeSelector& selector);

int64_t NumberOf(absl::string_view text);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_TESTING_SCENARIO_WORDS_H_
