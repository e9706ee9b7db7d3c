// What a cluster needs to run the binder, as YAML for kubectl apply: the
// definitions of crd_manifests.h and the files of install/, which are in the
// binary. With the default options the text is those files.
//
//   ManifestOptions options;
//   options.name_space = "gpu-system";
//   std::cout << InstallManifests({"crds", "rbac"}, options);

#ifndef K8S_MANIFESTS_INSTALL_MANIFESTS_H_
#define K8S_MANIFESTS_INSTALL_MANIFESTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gpubinder {

// The values that the files are written with.
struct ManifestOptions {
  std::string name_space = "cozy-system";
  std::string tenant_prefix = "tenant-";
  std::string kubevirt_controller_user =
      "system:serviceaccount:cozy-kubevirt:kubevirt-controller";
  std::string image = "gpubinder:0.1.0";
  // The binder's configuration file, as YAML that ends with a newline.
  std::string config_yaml = "{}\n";
  // Without cert-manager's objects and its annotation.
  bool self_signed = false;
};

// crds, rbac, policies, webhooks, deployment: the order to apply them in.
absl::Span<const absl::string_view> ManifestParts();

// The parts that are named, in the order of ManifestParts; "---" before each
// document. name_space and tenant_prefix are DNS labels or beginnings of one,
// image has no white space; nothing else is asked of the texts.
std::string InstallManifests(const std::vector<std::string>& parts,
                             const ManifestOptions& options);

}  // namespace gpubinder

#endif  // K8S_MANIFESTS_INSTALL_MANIFESTS_H_
