// Test only: replicas of one election on a clock that the test moves.

#ifndef RECONCILER_ELECTION_FIXTURE_H_
#define RECONCILER_ELECTION_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "reconciler/election.h"
#include "reconciler/fake_leases.h"
#include "reconciler/lease.h"
#include "reconciler/model/config.h"

namespace gpubinder {

using Json = nlohmann::json;

// One replica on the clock of the test. The times are the defaults: 15 s, 10 s,
// 2 s, and 5 s for a request.
struct Replica {
  Replica(FakeLeases& leases, absl::Duration& boot, absl::Time& wall,
          std::string identity, const Config& config = {})
      : client(leases),
        boot(boot),
        election(config, std::move(identity), client,
                 {.boot = [&boot] { return boot; },
                  .wall = [&wall] { return wall; }}) {}

  // Ticks as its thread would, until `end`.
  void RunUntil(absl::Duration end) {
    for (absl::Duration next = election.Tick(); next <= end;
         next = election.Tick()) {
      boot = std::max(boot, next);
    }
    boot = std::max(boot, end);
    election.Tick();
  }
  bool leading() const { return election.State().leading; }
  uint64_t epoch() const { return election.State().epoch; }

  FakeLeaseClient client;
  absl::Duration& boot;
  LeaseElection election;
};

class ElectionTest : public testing::Test {
 protected:
  std::unique_ptr<Replica> Start(std::string identity,
                                 const Config& config = {}) {
    return std::make_unique<Replica>(leases_, boot_, wall_, std::move(identity),
                                     config);
  }
  Json Stored() const { return Json::parse(leases_.Stored()); }
  std::string Holder() const { return Stored()["spec"]["holderIdentity"]; }
  std::string Epoch() const {
    return Stored()["metadata"]["annotations"][kEpochAnnotation];
  }
  // The Lease that "old_1" left behind in its epoch 4.
  void LeaveLease() {
    leases_.Store(R"({"kind": "Lease", "metadata": {"name":
        "gpubinder.gpu.cozystack.io", "namespace": "cozy-system",
        "annotations": {"gpu.cozystack.io/epoch": "4"}},
      "spec": {"holderIdentity": "old_1", "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z", "leaseTransitions": 2}})");
  }

  FakeLeases leases_;
  absl::Duration boot_ = absl::Hours(100);
  absl::Time wall_ = absl::FromUnixSeconds(1767225600);
  const absl::Duration t0_ = boot_;
};

}  // namespace gpubinder

#endif  // RECONCILER_ELECTION_FIXTURE_H_
