#include "k8s/identity.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace gpubinder {
namespace {

constexpr size_t kMaxSmallFile = size_t{1} << 20;

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

absl::Status Unreadable(const std::string& path, absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("file \"", path, "\" cannot be read: ", why));
}

}  // namespace

PodSettings ReadPodSettings() {
  return {.host = Environment("KUBERNETES_SERVICE_HOST"),
          .port = Environment("KUBERNETES_SERVICE_PORT"),
          .service_account_folder =
              "/var/run/secrets/kubernetes.io/serviceaccount"};
}

absl::StatusOr<Identity> InClusterIdentity(const PodSettings& settings) {
  if (settings.host.empty() || settings.port.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("not in a cluster: ",
                     settings.host.empty() ? "KUBERNETES_SERVICE_HOST"
                                           : "KUBERNETES_SERVICE_PORT",
                     " is not set; give --kubeconfig to run outside"));
  }
  Identity identity;
  const bool is_ipv6 = settings.host.find(':') != std::string::npos;
  identity.server = absl::StrCat("https://", is_ipv6 ? "[" : "", settings.host,
                                 is_ipv6 ? "]" : "", ":", settings.port);
  identity.token_file = settings.service_account_folder + "/token";
  identity.authority.file = settings.service_account_folder + "/ca.crt";
  for (const std::string& path :
       {identity.token_file, identity.authority.file}) {
    if (absl::Status s = ReadSmallFile(path).status(); !s.ok()) return s;
  }
  return identity;
}

absl::StatusOr<Identity> FindIdentity(const std::string& kubeconfig,
                                      const PodSettings& settings) {
  return kubeconfig.empty() ? InClusterIdentity(settings)
                            : ReadKubeconfig(kubeconfig);
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return Unreadable(path, std::strerror(errno));
  std::string text;
  char chunk[4096];
  while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {
    text.append(chunk, static_cast<size_t>(in.gcount()));
    if (text.size() > kMaxSmallFile) return Unreadable(path, "over 1 MiB");
  }
  if (in.bad() || !in.eof()) return Unreadable(path, std::strerror(errno));
  return text;
}

}  // namespace gpubinder
