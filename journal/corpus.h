// Generated records of the shape that a binder journals: what the dictionary
// is trained on, and what benchmarks and tests of the journal append.

#ifndef JOURNAL_CORPUS_H_
#define JOURNAL_CORPUS_H_

#include <cstdint>
#include <vector>

#include "proto/journal.pb.h"

namespace gpubinder {

struct CorpusOptions {
  uint64_t seed = 1;
  int vms = 100;
  int nodes = 20;
};

// The life of each VM in turn: VMI, claim and gated launcher appear, a pass
// places them, the writes are answered, all comes back by watch, the VM runs;
// a node's heartbeat with every eighth record. Node, and 11 to 13 records a VM
// besides. Equal options give equal records, on any machine. What the journal
// itself fills is left empty.
std::vector<v1::Record> MakeCorpus(const CorpusOptions& options);

}  // namespace gpubinder

#endif  // JOURNAL_CORPUS_H_
