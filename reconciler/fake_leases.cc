#include "reconciler/fake_leases.h"

#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "reconciler/lease.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

absl::Status NoSuchCall() {
  return absl::InvalidArgumentError("405: an election makes no such call");
}

bool IsLeasePath(const ResourcePath& path, absl::string_view name) {
  return path.group == "coordination.k8s.io" && path.version == "v1" &&
         path.plural == "leases" && path.name_space == "cozy-system" &&
         path.name == name && path.subresource.empty();
}

// What the real server says of a Lease it does not take (422).
absl::Status Validate(const Json& lease) {
  static const std::regex& six_decimals =
      *new std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)");
  const Json& spec = lease.at("spec");
  for (const char* field : {"renewTime", "acquireTime"}) {
    if (!std::regex_match(spec.at(field).get<std::string>(), six_decimals)) {
      return absl::FailedPreconditionError(absl::StrCat("422: ", field));
    }
  }
  if (spec.at("leaseDurationSeconds").get<int>() <= 0 ||
      spec.at("leaseTransitions").get<int>() < 0) {
    return absl::FailedPreconditionError("422: must be greater than 0");
  }
  return absl::OkStatus();
}

}  // namespace

std::string FakeLeases::Stored() const {
  std::lock_guard<std::mutex> lock(mu_);
  return json_;
}

void FakeLeases::Delete() {
  std::lock_guard<std::mutex> lock(mu_);
  json_.clear();
}

void FakeLeases::Store(absl::string_view json) {
  Json lease = Json::parse(json.begin(), json.end());
  std::lock_guard<std::mutex> lock(mu_);
  lease["metadata"]["resourceVersion"] = absl::StrCat(++version_);
  json_ = lease.dump();
}

absl::StatusOr<std::string> FakeLeases::Get(const ResourcePath& path) const {
  if (!IsLeasePath(path, kLeaseName)) return NoSuchCall();
  std::lock_guard<std::mutex> lock(mu_);
  if (json_.empty()) return absl::NotFoundError("404");
  return json_;
}

absl::StatusOr<std::string> FakeLeases::Create(const ResourcePath& path,
                                               absl::string_view body) {
  if (!IsLeasePath(path, "")) return NoSuchCall();
  const Json lease = Json::parse(body.begin(), body.end());
  if (absl::Status legal = Validate(lease); !legal.ok()) return legal;
  if (lease.at("metadata").at("name") != kLeaseName) return NoSuchCall();
  if (!Stored().empty()) return absl::AlreadyExistsError("409");
  Store(body);
  return Stored();
}

absl::StatusOr<std::string> FakeLeases::Replace(const ResourcePath& path,
                                                absl::string_view body) {
  if (!IsLeasePath(path, kLeaseName)) return NoSuchCall();
  const Json lease = Json::parse(body.begin(), body.end());
  if (absl::Status legal = Validate(lease); !legal.ok()) return legal;
  const std::string stored = Stored();
  if (stored.empty()) return absl::NotFoundError("404");
  if (!lease.at("metadata").contains("resourceVersion")) {
    return absl::FailedPreconditionError("422: must be specified");
  }
  if (lease["metadata"]["resourceVersion"] !=
      Json::parse(stored)["metadata"]["resourceVersion"]) {
    return absl::AbortedError("409: the object has been modified");
  }
  Store(body);
  return Stored();
}

absl::StatusOr<std::string> FakeLeaseClient::Get(const ResourcePath& path,
                                                 absl::Duration) {
  ++reads;
  if (before) before();
  if (!failure.ok()) return failure;
  return leases_.Get(path);
}

absl::StatusOr<std::string> FakeLeaseClient::Create(const ResourcePath& path,
                                                    absl::string_view body,
                                                    absl::Duration) {
  ++writes;
  if (before) before();
  if (!failure.ok() && !applies_failing) return failure;
  absl::StatusOr<std::string> answer = leases_.Create(path, body);
  if (!failure.ok()) return failure;
  return answer;
}

absl::StatusOr<std::string> FakeLeaseClient::Replace(const ResourcePath& path,
                                                     absl::string_view body,
                                                     absl::Duration) {
  ++writes;
  if (before) before();
  if (!failure.ok() && !applies_failing) return failure;
  absl::StatusOr<std::string> answer = leases_.Replace(path, body);
  if (!failure.ok()) return failure;
  return answer;
}

absl::StatusOr<std::string> FakeLeaseClient::List(const ResourcePath&,
                                                  const ListOptions&) {
  return NoSuchCall();
}
absl::Status FakeLeaseClient::Watch(
    const ResourcePath&, const WatchOptions&,
    const std::function<bool(absl::string_view)>&) {
  return NoSuchCall();
}
absl::StatusOr<std::string> FakeLeaseClient::Patch(const ResourcePath&,
                                                   PatchType, absl::string_view,
                                                   absl::Duration) {
  return NoSuchCall();
}
absl::StatusOr<std::string> FakeLeaseClient::Delete(const ResourcePath&,
                                                    absl::string_view,
                                                    absl::Duration) {
  return NoSuchCall();
}

}  // namespace gpubinder
