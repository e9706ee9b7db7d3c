// The garbage collector and the namespace controller: what is owned goes
// after its owners, what is in a namespace goes with it.

#ifndef K8S_EMBEDDED_COLLECTOR_H_
#define K8S_EMBEDDED_COLLECTOR_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "k8s/embedded/backend.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder::embedded {

// Not thread-safe: one thread steps. An owner of a kind that is not served
// counts as present, since nobody can tell.
class Collector {
 public:
  explicit Collector(Backend& backend) : backend_(backend) {}
  // Follows the events since the last step. O(events + what they concern).
  void Step();

 private:
  struct Owner {
    const Resource* resource = nullptr;
    StoreKey key;
    std::string uid;
  };

  void ReadEvents();
  void Rescan();
  void Note(const StoreKey& key, const nlohmann::json& object);
  void Collect(const StoreKey& key);
  void StepNamespace(const nlohmann::json& name_space);
  static std::vector<Owner> OwnersOf(const nlohmann::json& object);
  bool IsPresent(const Owner& owner);

  Backend& backend_;
  uint64_t position_ = 0;                                 // 0: nothing read yet
  std::map<std::string, std::set<StoreKey>> dependents_;  // by owner uid
  std::set<StoreKey> to_check_;
};

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_COLLECTOR_H_
