// What is served of the last finished pass: an immutable copy in the form of
// the answers, held by pointer, so that no reader can delay the loop.
//
//   board.Publish(
//       PublishPass(result, snapshot, source, board.Latest().get()));

#ifndef RECONCILER_PASS_BOARD_H_
#define RECONCILER_PASS_BOARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/decision.pb.h"
#include "proto/explain.pb.h"
#include "reconciler/model/explanation.h"
#include "reconciler/model/name_table.h"
#include "reconciler/model/pass.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

// One set.
struct PublishedSet {
  int64_t age_unix_nanos = 0;
  v1::Explanation explanation;  // the latest, in group form
  // The nodes and their verdicts; none when no step of the pass looked at them.
  JudgedNodes judged;
  // In annotation order; then those that are being deleted, then template
  // claims that do not exist yet (their phase is empty).
  std::vector<v1::Member> members;
  std::vector<v1::RejectionEntry> rejections;  // of VM and members, by node
  // Whatever does not stand on a node in order.
  bool waiting() const {
    return explanation.reason() != v1::PLACED &&
           explanation.reason() != v1::PLACED_ON_CORDONED_NODE;
  }
};

// The sets of a namespace. Passes share those that no pass has touched.
struct PublishedNamespace {
  std::vector<PublishedSet> sets;  // by age, then key
  size_t waiting = 0;              // of them
  // Names to the index of the set: of VMs (a VMI has its VM's name), and of
  // claims.
  absl::btree_map<std::string, size_t> by_vm, by_claim;
};

// Of sets in any order.
PublishedNamespace NamespaceOf(std::vector<PublishedSet> sets);

// The units of a node. Shared in the same way.
struct PublishedNode {
  std::string name;
  std::vector<v1::NodeUnits> units;  // by resource
};

struct PublishedPass {
  v1::Source source;  // of every answer
  // By the key of the set, which waits for it.
  absl::btree_map<std::string, v1::HeldWrite> held_writes;
  absl::btree_map<std::string, std::shared_ptr<const PublishedNamespace>>
      namespaces;                                           // none is empty
  std::vector<std::shared_ptr<const PublishedNode>> nodes;  // by name
  // Those on which more is used than objects show.
  std::vector<NameId> assumed;

  // The set of the VM or VMI of that name, else of the claim; null: none.
  const PublishedSet* Find(absl::string_view name_space,
                           absl::string_view name) const;
};

// `snapshot` is the one that the pass saw, no record folded since but its own
// decision. `previous` is what was published of the pass before it, on the same
// snapshot; null: nothing was. O(namespaces + nodes) pointers, and what the
// pass says of the sets in the namespaces, and uses on the nodes, that it or
// the fold has touched since.
std::shared_ptr<const PublishedPass> PublishPass(const PassResult& result,
                                                 const Snapshot& snapshot,
                                                 const v1::Source& source,
                                                 const PublishedPass* previous);

// Thread-safe.
class PassBoard {
 public:
  void Publish(std::shared_ptr<const PublishedPass> pass);
  // Null before the first one.
  std::shared_ptr<const PublishedPass> Latest() const;

 private:
  mutable absl::Mutex mu_;
  std::shared_ptr<const PublishedPass> pass_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gpubinder

#endif  // RECONCILER_PASS_BOARD_H_
