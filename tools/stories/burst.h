// Test only: 200 claims on 8 nodes whose placement follows from the inputs
// alone, however often the binder is killed on the way.
//
// What makes it so: everything is there before the first binder starts, and
//   - a class "tie-NN" has one unit on each node. The nodes that are left take
//     the claims that are left, both in the order of their names: a claim's
//     node is the one of its own number, whichever are placed already;
//   - a class "on-NODE" is served by that node only;
//   - a machine that waits asks for more units than any node has.
// Claims of "tie" classes are orders, or held by one machine each; those of
// "on" classes are templates, some beside a held claim.

#ifndef TOOLS_STORIES_BURST_H_
#define TOOLS_STORIES_BURST_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "k8s/api_client.h"
#include "k8s/embedded/admission.h"
#include "nlohmann/json_fwd.hpp"

namespace gpubinder {

inline constexpr size_t kBurstBound = 200;     // claims that are bound at last
inline constexpr size_t kBurstMachines = 112;  // that start
inline constexpr size_t kBurstWaiting = 4;     // machines that never do

// Makes namespaces, nodes, classes, claims and machines; each write must
// succeed.
void CreateBurst(ApiClient& client);

// Gates launchers as our webhook does. The machines of the burst ask for
// their devices themselves, so there is nothing else to add.
absl::StatusOr<std::string> GateLaunchers(const embedded::AdmissionCall& call);

// Node by claim, of those that are Bound. A template claim is named by its
// VMI and the index of its entry: the rest of its name is of the VMI's uid.
std::map<std::string, std::string> PlacementsOf(
    const std::vector<nlohmann::json>& claims);

// What PlacementsOf gives at last, from the rules above.
std::map<std::string, std::string> BurstPlacements();

}  // namespace gpubinder

#endif  // TOOLS_STORIES_BURST_H_
