// A small cluster and requests to it in the shapes a real API server sends,
// for the tests of this folder.

#ifndef WEBHOOK_SAMPLE_CLUSTER_H_
#define WEBHOOK_SAMPLE_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "reconciler/model/kind.h"
#include "reconciler/model/snapshot.h"

namespace gpubinder {

inline constexpr char kTenant[] = "tenant-acme";
inline constexpr char kH100[] = "nvidia.com/GH100_H100_PCIE";
inline constexpr char kL40s[] = "nvidia.com/NVIDIA_L40S-24C";
inline constexpr char kKubeVirt[] =
    "system:serviceaccount:cozy-kubevirt:kubevirt-controller";

// 2026-12-01T12:00:00Z.
absl::Time SampleNow();

// Puts an object into the snapshot, as the codec reads it.
void Put(Kind kind, const nlohmann::json& object, Snapshot& snapshot);

// Classes h100 (at most 4 units, tolerates nvidia.com/gpu) and l40s (VGPU,
// tolerates nvidia.com/gpu and pool=vgpu); namespace tenant-acme, not entitled.
Snapshot SampleCluster();

// A GPUClaim of kTenant with uid "uid-<name>" and version "10".
nlohmann::json ClaimJson(const std::string& name, const std::string& class_name,
                         int count);
// {name, uid, since}, without uid when it is empty.
nlohmann::json AttachedTo(const std::string& name, const std::string& uid,
                          absl::Time since);
nlohmann::json VmiJson(const std::string& name, const std::string& uid,
                       const std::string& phase);

// The review of virt-controller's create of VMI a1 in kTenant.
nlohmann::json VmiReview(const nlohmann::json& claims);
// The review of virt-controller's create of its launcher.
nlohmann::json PodReview(const nlohmann::json& claims);

// An answer as the API server takes it apart.
struct TakenAnswer {
  bool allowed = false;
  int code = 0;
  std::string reason, message;
  std::vector<std::string> warnings;
  nlohmann::json patch;   // a list, empty without one
  nlohmann::json object;  // the request's, with the patch applied
};
// Fails the test where the response would be a failed call (facts AR-3, AR-4)
// or the patch does not apply.
TakenAnswer Take(const nlohmann::json& review, absl::string_view response);

// Review, taken apart. The body has to be a review.
TakenAnswer AnswerTo(const nlohmann::json& review, const Snapshot& snapshot,
                     absl::Time now = SampleNow());

}  // namespace gpubinder

#endif  // WEBHOOK_SAMPLE_CLUSTER_H_
