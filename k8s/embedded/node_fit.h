// Whether a pod may run on a node, as the default scheduler's filters say it.
//
// An implementation of its own, independent of the binder's matchers: what
// the binder thinks can run and what this scheduler runs are compared by
// every test that lets both act.

#ifndef K8S_EMBEDDED_NODE_FIT_H_
#define K8S_EMBEDDED_NODE_FIT_H_

#include <string>
#include <vector>

#include "k8s/embedded/quantity_value.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

struct NodeFit {
  std::vector<std::string> reasons;  // empty: it fits
  // Evicting others could help: the node is big enough.
  bool preemption_could_help = false;
};

// `used`: what the counted pods of the node request, "pods" included (in
// thousandths). Filters in order; the first that rejects speaks.
NodeFit FitOf(const nlohmann::json& pod, const nlohmann::json& node,
              const Amounts& used);

// The whole message of a pod that no node takes (SO-2): one NodeFit a node.
std::string UnschedulableMessage(const std::vector<NodeFit>& fits);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_NODE_FIT_H_
