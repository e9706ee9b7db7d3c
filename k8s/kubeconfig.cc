// The one unit that knows yaml-cpp: ReadKubeconfig of identity.h.

#include <exception>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "k8s/identity.h"
#include "yaml-cpp/yaml.h"

namespace gpubinder {
namespace {

absl::Status Unfit(absl::string_view what) {
  return absl::FailedPreconditionError(what);
}

std::string Text(const YAML::Node& node, const char* field) {
  const YAML::Node value = node[field];
  if (!value || value.IsNull()) return "";
  return value.as<std::string>();
}

bool Flag(const YAML::Node& node, const char* field) {
  const YAML::Node value = node[field];
  return value && !value.IsNull() && value.as<bool>();
}

// The entry called `name` of a list of {name, <inner>: {...}}.
absl::StatusOr<YAML::Node> Named(const YAML::Node& root, const char* list,
                                 const char* inner, const std::string& name) {
  const YAML::Node entries = root[list];
  if (entries && entries.IsSequence()) {
    for (const YAML::Node& entry : entries) {
      if (!entry.IsMap() || Text(entry, "name") != name) continue;
      if (entry[inner] && entry[inner].IsMap()) return entry[inner];
      // A user may be empty: no credentials.
      return YAML::Node(YAML::NodeType::Map);
    }
  }
  return Unfit(absl::StrCat(list, " has no entry named \"", name, "\""));
}

absl::StatusOr<PemSource> Pem(const YAML::Node& node, const std::string& field,
                              const std::string& folder) {
  PemSource pem;
  const std::string data_field = field + "-data";
  const std::string data = Text(node, data_field.c_str());
  if (!data.empty()) {
    if (!absl::Base64Unescape(data, &pem.data) || pem.data.empty()) {
      return Unfit(absl::StrCat(data_field, " is not base64"));
    }
    return pem;
  }
  pem.file = Text(node, field.c_str());
  if (!pem.file.empty() && pem.file[0] != '/') {
    pem.file = absl::StrCat(folder, "/", pem.file);
  }
  return pem;
}

absl::Status TakeCluster(const YAML::Node& cluster, const std::string& folder,
                         Identity& identity) {
  identity.server = Text(cluster, "server");
  while (!identity.server.empty() && identity.server.back() == '/') {
    identity.server.pop_back();
  }
  if (identity.server.empty()) return Unfit("the cluster has no server");
  absl::StatusOr<PemSource> authority =
      Pem(cluster, "certificate-authority", folder);
  if (!authority.ok()) return authority.status();
  identity.authority = *authority;
  identity.tls_server_name = Text(cluster, "tls-server-name");
  identity.insecure_skip_tls_verify = Flag(cluster, "insecure-skip-tls-verify");
  identity.disable_compression = Flag(cluster, "disable-compression");
  identity.proxy_url = Text(cluster, "proxy-url");
  identity.proxy = identity.proxy_url.empty() ? Identity::Proxy::kEnvironment
                                              : Identity::Proxy::kUrl;
  return absl::OkStatus();
}

absl::Status TakeUser(const YAML::Node& user, const std::string& folder,
                      Identity& identity) {
  for (const char* field : {"exec", "auth-provider", "username", "as", "as-uid",
                            "as-groups", "as-user-extra"}) {
    if (!user[field] || user[field].IsNull()) continue;
    return Unfit(absl::StrCat(
        "the user has ", field,
        ", which is not supported; use a client certificate, token or "
        "tokenFile"));
  }
  absl::StatusOr<PemSource> certificate =
      Pem(user, "client-certificate", folder);
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<PemSource> key = Pem(user, "client-key", folder);
  if (!key.ok()) return key.status();
  if (certificate->given() != key->given()) {
    return Unfit(certificate->given()
                     ? "the user has client-certificate but no client-key"
                     : "the user has client-key but no client-certificate");
  }
  identity.certificate = *certificate;
  identity.key = *key;
  identity.token = std::string(absl::StripAsciiWhitespace(Text(user, "token")));
  identity.token_file = Text(user, "tokenFile");
  if (!identity.token_file.empty() && identity.token_file[0] != '/') {
    identity.token_file = absl::StrCat(folder, "/", identity.token_file);
  }
  return absl::OkStatus();
}

absl::StatusOr<Identity> Take(const YAML::Node& root,
                              const std::string& folder) {
  if (!root.IsMap()) return Unfit("it is not a mapping");
  const std::string current = Text(root, "current-context");
  if (current.empty()) return Unfit("current-context is not set");
  absl::StatusOr<YAML::Node> context =
      Named(root, "contexts", "context", current);
  if (!context.ok()) return context.status();
  absl::StatusOr<YAML::Node> cluster =
      Named(root, "clusters", "cluster", Text(*context, "cluster"));
  if (!cluster.ok()) return cluster.status();
  Identity identity;
  if (absl::Status s = TakeCluster(*cluster, folder, identity); !s.ok()) {
    return s;
  }
  const std::string user_name = Text(*context, "user");
  if (user_name.empty()) return identity;
  absl::StatusOr<YAML::Node> user = Named(root, "users", "user", user_name);
  if (!user.ok()) return user.status();
  if (absl::Status s = TakeUser(*user, folder, identity); !s.ok()) return s;
  return identity;
}

}  // namespace

absl::StatusOr<Identity> ParseKubeconfig(absl::string_view text,
                                         const std::string& folder) {
  // yaml-cpp's messages give line and column; those of wrong conversions quote
  // nothing, so no secret can leak.
  try {
    return Take(YAML::Load(std::string(text)), folder);
  } catch (const std::exception& e) {
    return Unfit(absl::StrCat("it is not a kubeconfig in YAML: ", e.what()));
  }
}

absl::StatusOr<Identity> ReadKubeconfig(const std::string& path) {
  absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash);
  absl::StatusOr<Identity> identity = ParseKubeconfig(*text, folder);
  if (!identity.ok()) {
    return absl::Status(identity.status().code(),
                        absl::StrCat("kubeconfig \"", path,
                                     "\": ", identity.status().message()));
  }
  return identity;
}

}  // namespace gpubinder
