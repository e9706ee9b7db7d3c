// Test only: one case for each rule of the API that the binder relies on.
//
// Ids name the rule in the project's fact sheets: OC-1 and so on; "3.4" is a
// section of the observations on a real server (v1.34.4), from which codes
// and texts are.

#ifndef K8S_EMBEDDED_API_RULES_H_
#define K8S_EMBEDDED_API_RULES_H_

#include <string>
#include <vector>

#include "k8s/embedded/testing_calls.h"

namespace gpubinder::embedded {

struct Rule {
  std::string id;
  std::vector<TestCall> before;  // each must succeed
  TestCall call;
  int code = 200;
  std::vector<std::string> said;  // parts of the body
};

// All of them, in namespace "t".
std::vector<Rule> AllApiRules();
// Those of custom resources, leases, lists and watches.
std::vector<Rule> RulesOfKinds();

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_API_RULES_H_
