#include "reconciler/model/fold_endings.h"

#include <iterator>

#include "reconciler/model/kind.h"

namespace gpubinder {

void NoteEnding(const v1::Effect& effect, absl::Time at, Snapshot& snapshot) {
  const std::string& vmi = effect.write_claim_set().ended_vmi();
  if (!vmi.empty()) snapshot.endings[vmi] = at;
}

void NoteEndingSeen(const GpuClaimSet* before, const GpuClaimSet& after,
                    absl::Time at, Snapshot& snapshot) {
  // One that was let go of is not taken up again by a later write to its
  // memory.
  if (!snapshot.IsListed(Kind::kGpuClaimSet) || after.ended_vmi.empty() ||
      (before != nullptr && before->ended_vmi == after.ended_vmi)) {
    return;
  }
  snapshot.endings.emplace(after.ended_vmi, at);
}

void ForgetEndings(absl::Time at, Snapshot& snapshot) {
  auto& endings = snapshot.endings;
  for (auto it = endings.begin(); it != endings.end();) {
    it = it->second + kEndingWindow <= at ? endings.erase(it) : std::next(it);
  }
}

}  // namespace gpubinder
