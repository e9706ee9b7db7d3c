// Every node's kubelet: runs bound pods, refuses them where a node is told
// to, and ends deleted ones.
//
// Annotations on a Node:
//   sandbox.gpubinder/refuse: OutOfcpu | OutOf<resource> |
//                             UnexpectedAdmissionError
//       each new pod fails with that reason;
//   sandbox.gpubinder/kubelet: dead
//       nothing happens to pods of the node: they neither start nor end.

#ifndef K8S_EMBEDDED_KUBELET_STAND_IN_H_
#define K8S_EMBEDDED_KUBELET_STAND_IN_H_

#include "k8s/embedded/backend.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

class KubeletStandIn {
 public:
  explicit KubeletStandIn(Backend& backend) : backend_(backend) {}
  // Looks at each bound pod once.
  void Step();

 private:
  void Start(const nlohmann::json& pod, const nlohmann::json& node);

  Backend& backend_;
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_KUBELET_STAND_IN_H_
