// Test only: the Leases of an API server, as far as an election meets them:
// versions, 409 for a lost race, 422 for times without six decimals.

#ifndef RECONCILER_FAKE_LEASES_H_
#define RECONCILER_FAKE_LEASES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "k8s/api_client.h"

namespace gpubinder {

// The server, shared by the clients of several replicas. Thread-safe.
class FakeLeases {
 public:
  // By path text; empty: there is none.
  std::string Stored() const;
  void Delete();
  // Puts an object there as it is, but for its version.
  void Store(absl::string_view json);

  absl::StatusOr<std::string> Get(const ResourcePath& path) const;
  absl::StatusOr<std::string> Create(const ResourcePath& path,
                                     absl::string_view body);
  absl::StatusOr<std::string> Replace(const ResourcePath& path,
                                      absl::string_view body);

 private:
  mutable std::mutex mu_;
  std::string json_;
  int64_t version_ = 100;
};

// One replica's client.
class FakeLeaseClient : public ApiClient {
 public:
  explicit FakeLeaseClient(FakeLeases& leases) : leases_(leases) {}

  // What becomes of each call from now on. Not OK: it is not applied.
  absl::Status failure;
  // Whether a failing write is applied all the same, its answer lost.
  bool applies_failing = false;
  // Runs in each call, before it reaches the server.
  std::function<void()> before;
  int reads = 0, writes = 0;

  absl::StatusOr<std::string> Get(const ResourcePath& path,
                                  absl::Duration timeout) override;
  absl::StatusOr<std::string> Create(const ResourcePath& path,
                                     absl::string_view body,
                                     absl::Duration timeout) override;
  absl::StatusOr<std::string> Replace(const ResourcePath& path,
                                      absl::string_view body,
                                      absl::Duration timeout) override;

  // An election makes none of these calls: they fail.
  absl::StatusOr<std::string> List(const ResourcePath&,
                                   const ListOptions&) override;
  absl::Status Watch(const ResourcePath&, const WatchOptions&,
                     const std::function<bool(absl::string_view)>&) override;
  absl::StatusOr<std::string> Patch(const ResourcePath&, PatchType,
                                    absl::string_view, absl::Duration) override;
  absl::StatusOr<std::string> Delete(const ResourcePath&, absl::string_view,
                                     absl::Duration) override;
  void Stop() override {}

 private:
  FakeLeases& leases_;
};

}  // namespace gpubinder

#endif  // RECONCILER_FAKE_LEASES_H_
