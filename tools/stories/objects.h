// Test only: the objects that the stories and the processes' tests are about,
// in namespace tenant-a.

#ifndef TOOLS_STORIES_OBJECTS_H_
#define TOOLS_STORIES_OBJECTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "nlohmann/json_fwd.hpp"

namespace gpubinder {

inline constexpr char kTenant[] = "tenant-a";
inline constexpr char kH100[] = "nvidia.com/GH100_H100_PCIE";
inline constexpr char kL40s[] = "nvidia.com/AD102GL_L40S";

nlohmann::json NamespaceObject(const std::string& name);
// Ready, with 64 cpus and what KubeVirt's launchers ask for; `units` by
// resource name.
nlohmann::json NodeObject(const std::string& name,
                          const std::map<std::string, int64_t>& units);
nlohmann::json ClassObject(const std::string& name,
                           const std::string& resource);
nlohmann::json ClaimObject(const std::string& name,
                           const std::string& class_name, int64_t units);
// `claims` is the annotation's text; see Held and FromTemplate.
nlohmann::json MachineObject(const std::string& name,
                             const std::string& strategy,
                             const std::string& claims);
// The annotation of one entry.
std::string Held(const std::string& claim);
std::string FromTemplate(const std::string& class_name, int64_t units);

}  // namespace gpubinder

#endif  // TOOLS_STORIES_OBJECTS_H_
