#include "tools/sandbox_cluster.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "k8s/kinds.h"
#include "k8s/object_codec.h"
#include "nlohmann/json.hpp"
#include "webhook/attach.h"

namespace gpubinder {
namespace {

using Json = nlohmann::json;

constexpr absl::Duration kCallTimeout = absl::Seconds(10);
// How often what is awaited is looked at.
constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr char kExtraGate[] = "sandbox.gpubinder/extra-gate";

// A pod's annotation of that name makes the sandbox add a scheduling gate of
// somebody else's, as another webhook would.
absl::StatusOr<std::string> WithExtraGate(const std::string& review,
                                          std::string answer) {
  const Json asked = Json::parse(review, nullptr, false);
  Json given = Json::parse(answer, nullptr, false);
  if (asked.is_discarded() || given.is_discarded()) return answer;
  const Json::json_pointer annotations("/request/object/metadata/annotations");
  if (!asked.contains(annotations) ||
      !asked[annotations].contains(kExtraGate)) {
    return answer;
  }
  const Json gate = {{"name", asked[annotations][kExtraGate]}};
  const Json::json_pointer gates("/request/object/spec/schedulingGates");
  const bool listed = asked.contains(gates);
  if (listed) {
    for (const Json& there : asked[gates]) {
      if (there == gate) return answer;
    }
  }
  Json patch = Json::array();
  std::string text;
  if (given["response"].contains("patch") &&
      absl::Base64Unescape(given["response"]["patch"].get<std::string>(),
                           &text)) {
    patch = Json::parse(text);
  }
  // Ours is there by now, so the list is.
  const bool ours_adds = !patch.empty();
  if (listed || ours_adds) {
    patch.push_back(
        {{"op", "add"}, {"path", "/spec/schedulingGates/-"}, {"value", gate}});
  } else {
    patch.push_back({{"op", "add"},
                     {"path", "/spec/schedulingGates"},
                     {"value", Json::array({gate})}});
  }
  given["response"]["patch"] = absl::Base64Escape(patch.dump());
  given["response"]["patchType"] = "JSONPatch";
  return given.dump();
}

}  // namespace

SandboxCluster::SandboxCluster(SandboxOptions options)
    : options_(std::move(options)),
      server_({.start_backoff = options_.start_backoff}),
      client_(server_.NewClient("system:admin", {})),
      admission_client_(server_.NewClient("system:gpubinder-webhook", {})) {}

SandboxCluster::~SandboxCluster() {
  server_.StopStandIns();
  if (binder_ != nullptr) binder_->Stop();
}

absl::StatusOr<std::unique_ptr<SandboxCluster>> SandboxCluster::Start(
    SandboxOptions options) {
  std::unique_ptr<SandboxCluster> cluster(
      new SandboxCluster(std::move(options)));
  if (absl::Status s = cluster->Begin(); !s.ok()) return s;
  return cluster;
}

absl::Status SandboxCluster::Begin() {
  // Where the Lease lives.
  const absl::StatusOr<std::string> made = client_->Create(
      {.version = "v1", .plural = "namespaces"},
      Json({{"metadata", {{"name", options_.config.name_space}}}}).dump(),
      kCallTimeout);
  if (!made.ok()) return made.status();
  server_.ObserveRevisions([this](const embedded::StoreEvent& event) {
    if (event.key.resource != "leases.coordination.k8s.io") ++writes_;
    if (options_.on_revision) options_.on_revision(event);
  });
  absl::StatusOr<std::unique_ptr<Binder>> binder = Binder::Open(
      {.config = options_.config,
       .journal_directory = options_.journal_directory,
       .pod_name = "sandbox-0",
       .grpc_address = options_.grpc_address,
       .new_client = [this] { return server_.NewClient("gpubinder", {}); },
       .on_pass =
           [this](const FinishedPass& pass) {
             if (options_.on_pass) options_.on_pass(pass);
             if (pass.record.role() == v1::LEADER && !led_.exchange(true)) {
               leads_.Notify();
             }
           },
       .on_outcome =
           [this](const v1::Record& record) {
             if (options_.on_outcome) options_.on_outcome(record);
           },
       .on_trouble = [](Kind, const absl::Status&) {},
       .on_leadership = [](const LeaderState&) {}});
  if (!binder.ok()) return binder.status();
  binder_ = *std::move(binder);
  server_.SetAdmission(
      [this](const embedded::AdmissionCall& call) { return Admit(call); });
  binder_->Start();
  if (absl::Status s = AwaitLeading(); !s.ok()) return s;
  if (options_.stand_ins) server_.StartStandIns(absl::Milliseconds(200));
  return absl::OkStatus();
}

absl::Status SandboxCluster::AwaitLeading() {
  const absl::Time end = absl::Now() + absl::Minutes(1);
  while (!leads_.WaitForNotificationWithTimeout(kLook)) {
    if (IsInterrupted()) return absl::CancelledError("interrupted");
    if (absl::Now() < end) continue;
    return absl::DeadlineExceededError(
        "the binder did not lead within a minute");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SandboxCluster::Admit(
    const embedded::AdmissionCall& call) {
  absl::StatusOr<std::string> answer = AdmitAndAttach(
      call.review, {.read =
                        [this](absl::FunctionRef<void(const Snapshot&)> use) {
                          binder_->loop().WithSnapshot(use);
                        },
                    .client = admission_client_.get(),
                    .clock = absl::Now});
  if (!answer.ok() || call.path != "/mutate-pod") return answer;
  return WithExtraGate(call.review, *std::move(answer));
}

absl::Status SandboxCluster::Apply(const std::vector<InputText>& texts,
                                   std::vector<std::string>& skipped) {
  for (const InputText& text : texts) {
    if (IsInterrupted()) {
      return absl::CancelledError(absl::StrCat(
          "interrupted: ", text.where, " and what follows is not applied"));
    }
    const absl::StatusOr<AnyObject> object = DecodeAnyObject(text.json);
    if (!object.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(text.where, ": ", object.status().message()));
    }
    const std::optional<Kind> kind = KindByName(object->kind);
    if (!object->object.has_value() || !kind.has_value()) {
      skipped.push_back(absl::StrCat(object->kind, " ", object->name));
      continue;
    }
    ResourcePath path = ResourcePathOf(*kind);
    if (PlaceOf(*kind).namespaced) {
      path.name_space =
          object->name_space.empty() ? "default" : object->name_space;
    }
    absl::StatusOr<std::string> done =
        client_->Create(path, text.json, kCallTimeout);
    if (absl::IsAlreadyExists(done.status())) {
      path.name = object->name;
      done = client_->Patch(path, PatchType::kMerge, text.json, kCallTimeout);
    }
    if (!done.ok()) {
      return absl::Status(
          done.status().code(),
          absl::StrCat(text.where, ": ", done.status().message()));
    }
  }
  return absl::OkStatus();
}

bool SandboxCluster::AwaitQuiet(absl::Duration quiet, absl::Duration limit) {
  const absl::Time end = absl::Now() + limit;
  uint64_t seen = writes_;
  absl::Time since = absl::Now();
  while (absl::Now() < end && !IsInterrupted()) {
    absl::SleepFor(kLook);
    const uint64_t now = writes_;
    if (now != seen || !binder_->loop().IsSettled()) {
      seen = now;
      since = absl::Now();
    } else if (absl::Now() - since >= quiet) {
      return true;
    }
  }
  return false;
}

}  // namespace gpubinder
