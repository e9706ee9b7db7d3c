#include "tools/bench/live_cluster.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "reconciler/model/config.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/testing/object_event.h"
#include "tools/bench/pass_under_test.h"

namespace gpubinder::bench {
namespace {

constexpr int kMostPasses = 20;
constexpr uint64_t kEpoch = 1;

// The object of that name in the table of the alternative T.
template <typename T>
std::optional<Object> FindIn(const Snapshot& snapshot,
                             const v1::Target& target) {
  const T* found = snapshot.Of<T>().Find(target.namespace_(), target.name());
  if (found == nullptr) return std::nullopt;
  return Object(*found);
}

std::optional<Object> Find(const Snapshot& snapshot, const v1::Target& target) {
  switch (KindByName(target.kind()).value_or(Kind::kNode)) {
    case Kind::kGpuClass:
      return FindIn<GpuClass>(snapshot, target);
    case Kind::kGpuClaim:
      return FindIn<GpuClaim>(snapshot, target);
    case Kind::kGpuClaimSet:
      return FindIn<GpuClaimSet>(snapshot, target);
    case Kind::kVirtualMachineInstance:
      return FindIn<VirtualMachineInstance>(snapshot, target);
    case Kind::kPod:
      return FindIn<Pod>(snapshot, target);
    default:
      return std::nullopt;
  }
}

}  // namespace

LiveCluster::LiveCluster(const Cluster& cluster) : now_(cluster.now()) {
  v1::Record record;
  record.mutable_leadership()->set_leading(true);
  Tell(record, std::nullopt);
  *record.mutable_config() = ConfigRecord(Config());
  Tell(record, std::nullopt);
  for (int i = 0; i < kKinds; ++i) {
    const Kind kind = static_cast<Kind>(i);
    record.mutable_list_began()->set_kind(std::string(KindName(kind)));
    Tell(record, std::nullopt);
    cluster.ForEach(kind, [&](Object object) {
      Watch(v1::ObjectEvent::LISTED, std::move(object));
    });
    record.mutable_list_ended()->set_kind(std::string(KindName(kind)));
    Tell(record, std::nullopt);
  }
}

void LiveCluster::Watch(v1::ObjectEvent::Type type, Object object) {
  v1::Record record;
  *record.mutable_object() = EventOf(type, object);
  Tell(std::move(record), std::move(object));
}

void LiveCluster::GrowNode(int64_t number) {
  const Table<Node>& nodes = snapshot_.nodes();
  Node node = nodes[static_cast<gpubinder::Row>(number * 7919 % nodes.end())];
  for (const auto& [name, text] : node.allocatable) {
    int64_t units = 0;
    if (name.rfind("nvidia.com/", 0) != 0 || !absl::SimpleAtoi(text, &units)) {
      continue;
    }
    node.allocatable[name] = absl::StrCat(units + 1);
    break;
  }
  node.meta.resource_version = absl::StrCat(1'000'000 + number);
  Watch(v1::ObjectEvent::MODIFIED, std::move(node));
}

void LiveCluster::Tell(v1::Record record, std::optional<Object> object) {
  record.set_sequence(++sequence_);
  record.set_time_unix_nanos(absl::ToUnixNanos(now_));
  record.set_journal_uid("5e1f09ab");
  record.set_epoch(kEpoch);
  record.set_role(v1::LEADER);
  record.set_model_version(kModelVersion);
  Fold(record, std::move(object), snapshot_);
}

absl::Status LiveCluster::Settle() {
  for (int i = 0; i < kMostPasses; ++i) {
    const PassResult result = NextPass(snapshot_, now_);
    if (result.effects.empty() && result.explanations.empty()) {
      return absl::OkStatus();
    }
    v1::Record record;
    *record.mutable_decision() = ToRecord(result, sequence_);
    Tell(std::move(record), std::nullopt);
    const uint64_t decision = sequence_;
    for (size_t j = 0; j < result.effects.size(); ++j) {
      const absl::Status applied =
          Apply(result.effects[j], decision, static_cast<uint32_t>(j));
      if (!applied.ok()) return applied;
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the cluster does not settle in ", kMostPasses, " passes"));
}

void LiveCluster::Show(const v1::Target& target) {
  const std::optional<Kind> kind = KindByName(target.kind());
  if (!kind.has_value() ||
      server_.Find(*kind, target.namespace_(), target.name()) != nullptr) {
    return;
  }
  std::optional<Object> object = Find(snapshot_, target);
  if (object.has_value()) server_.Put(*std::move(object));
}

absl::Status LiveCluster::Apply(const v1::Effect& effect, uint64_t decision,
                                uint32_t index) {
  const v1::Target& target = effect.target();
  Show(target);
  std::string version;
  if (const std::optional<Kind> kind = KindByName(target.kind())) {
    const Object* stored =
        server_.Find(*kind, target.namespace_(), target.name());
    if (stored != nullptr) version = MetaOf(*stored).resource_version;
  }
  const Answer answer = server_.Apply(effect, version, now_);
  if (!answer.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("a write to ", target.kind(), " ", target.namespace_(),
                     "/", target.name(), " was refused: ", answer.message));
  }
  v1::Record record;
  v1::Outcome& outcome = *record.mutable_outcome();
  outcome.set_decision(decision);
  outcome.set_effect(index);
  outcome.set_kind(v1::Outcome::APPLIED);
  outcome.set_code(200);
  if (answer.object.has_value()) {
    *outcome.mutable_object() =
        EventOf(v1::ObjectEvent::MODIFIED, *answer.object);
  }
  Tell(std::move(record), answer.object);
  return absl::OkStatus();
}

}  // namespace gpubinder::bench
