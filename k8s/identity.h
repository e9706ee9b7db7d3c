// Who we are to which API server: read from a kubeconfig file or from the
// pod's service account, used by HttpApiClient.
//
//   absl::StatusOr<Identity> identity = FindIdentity(flag, ReadPodSettings());

#ifndef K8S_IDENTITY_H_
#define K8S_IDENTITY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpubinder {

// PEM given in place or by the path of a file. A file is read anew for each
// connection, so that a rotated one is taken up. Both empty: not given.
struct PemSource {
  std::string data, file;
  bool given() const { return !data.empty() || !file.empty(); }
};

struct Identity {
  std::string server;   // "https://host:6443", perhaps with a path prefix
  PemSource authority;  // not given: the system's
  PemSource certificate, key;
  std::string token;            // used if token_file is empty
  std::string token_file;       // re-read every minute and after a 401
  std::string tls_server_name;  // empty: the server's host
  bool insecure_skip_tls_verify = false;
  bool disable_compression = false;
  enum class Proxy { kNone, kEnvironment, kUrl };
  Proxy proxy = Proxy::kNone;
  std::string proxy_url;
};

// Reads the current-context of a kubeconfig file; relative paths in it are
// against its folder. kFailedPrecondition: cannot be read, is not whole, or
// asks for what is not supported (exec, auth-provider, basic authentication,
// impersonation).
absl::StatusOr<Identity> ReadKubeconfig(const std::string& path);
// The same from the file's text; `folder` is what its paths are against.
absl::StatusOr<Identity> ParseKubeconfig(absl::string_view text,
                                         const std::string& folder);

// What a pod is told of its API server.
struct PodSettings {
  std::string host, port;              // KUBERNETES_SERVICE_HOST and _PORT
  std::string service_account_folder;  // token and ca.crt
};
PodSettings ReadPodSettings();
// kFailedPrecondition: not in a cluster, or without a service account.
absl::StatusOr<Identity> InClusterIdentity(const PodSettings& settings);

// The kubeconfig if its path is not empty, else the pod's service account.
absl::StatusOr<Identity> FindIdentity(const std::string& kubeconfig,
                                      const PodSettings& settings);

// The whole file, at most 1 MiB. kFailedPrecondition names it and the cause.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

}  // namespace gpubinder

#endif  // K8S_IDENTITY_H_
