// What every part of the server works on: the store, its lock, the clock, the
// source of uids and the admission hook.

#ifndef K8S_EMBEDDED_BACKEND_H_
#define K8S_EMBEDDED_BACKEND_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "k8s/embedded/admission.h"
#include "k8s/embedded/resource_table.h"
#include "k8s/embedded/store.h"

namespace gpubinder::embedded {

// Deterministic: the same seed gives the same uids and suffixes in order.
class IdSource {
 public:
  explicit IdSource(uint64_t seed) : state_(seed) {}
  std::string Uid();         // "8d3f...-...": 36 characters
  std::string NameSuffix();  // five, of generateName's alphabet

 private:
  uint64_t Next();
  uint64_t state_;
};

struct Backend {
  Backend(size_t event_window, uint64_t seed)
      : store(event_window), ids(seed) {}

  absl::Mutex mutex;
  absl::CondVar changed;  // after each write
  Store store ABSL_GUARDED_BY(mutex);
  IdSource ids ABSL_GUARDED_BY(mutex);
  std::function<absl::Time()> clock;
  AdmissionHook admission;
  std::string kubevirt_user;
};

StoreKey KeyOf(const Resource& resource, absl::string_view name_space,
               absl::string_view name);
// Snapshots for the stand-ins. Null and empty when there is nothing.
JsonPtr ReadObject(Backend& backend, const Resource& resource,
                   absl::string_view name_space, absl::string_view name);
std::vector<JsonPtr> ReadAll(Backend& backend, const Resource& resource,
                             absl::string_view name_space);

}  // namespace gpubinder::embedded

#endif  // K8S_EMBEDDED_BACKEND_H_
