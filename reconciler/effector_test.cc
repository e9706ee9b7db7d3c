#include "reconciler/effector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "k8s/embedded/embedded_server.h"
#include "k8s/kinds.h"
#include "k8s/object_codec.h"
#include "reconciler/model/config.h"
#include "reconciler/model/effect.h"

namespace gpubinder {
namespace {

using ::testing::ElementsAre;

constexpr absl::Duration kTimeout = absl::Milliseconds(200);

// A server with claims, an effector on it, and the outcomes it reports.
class EffectorTest : public testing::Test {
 protected:
  EffectorTest() : server_({}), plain_(server_.NewClient("test", {})) {
    Create("namespaces", "", R"({"metadata":{"name":"a"}})");
  }

  void StartEffector(embedded::FaultHook faults) {
    writes_ = server_.NewClient("binder", std::move(faults));
    effector_ = std::make_unique<Effector>(
        EffectorOptions{.parallel = 4,
                        .request_timeout = kTimeout,
                        .may_write = [this] { return may_write_.load(); },
                        .on_outcome =
                            [this](v1::Outcome outcome) {
                              absl::MutexLock lock(&mutex_);
                              outcomes_.push_back(std::move(outcome));
                            }},
        *writes_);
  }

  void Create(const std::string& plural, const std::string& name_space,
              const std::string& json) {
    ResourcePath path{
        .version = "v1", .plural = plural, .name_space = name_space};
    if (absl::StartsWith(plural, "gpu")) {
      path.group = "gpu.cozystack.io";
      path.version = "v1alpha1";
    }
    const auto made = plain_->Create(path, json, absl::Seconds(5));
    ASSERT_TRUE(made.ok()) << made.status();
  }

  GpuClaim MakeClaim(const std::string& name) {
    Create("gpuclaims", "a",
           absl::StrCat(R"({"apiVersion":"gpu.cozystack.io/v1alpha1",)",
                        R"("kind":"GPUClaim","metadata":{"name":")", name,
                        R"("},"spec":{"className":"h100","count":1}})"));
    return ReadClaim(name);
  }

  GpuClaim ReadClaim(const std::string& name) {
    ResourcePath path = ResourcePathOf(Kind::kGpuClaim);
    path.name_space = "a";
    path.name = name;
    const auto json = plain_->Get(path, absl::Seconds(5));
    EXPECT_TRUE(json.ok()) << json.status();
    return std::get<GpuClaim>(*DecodeObject(Kind::kGpuClaim, *json));
  }

  static v1::Effect Bind(const GpuClaim& claim, const std::string& node) {
    v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
    effect.set_set_key("a/vm");
    effect.mutable_bind_claim()->set_node_name(node);
    effect.mutable_bind_claim()->set_resource_name("nvidia.com/H100");
    effect.mutable_bind_claim()->set_bound_at_unix_seconds(1700000000);
    effect.mutable_bind_claim()->set_units(1);
    return effect;
  }

  static v1::Effect Protect(const GpuClaim& claim) {
    v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
    effect.set_set_key("a/vm");
    effect.mutable_add_finalizer()->set_finalizer(kClaimFinalizer);
    effect.mutable_add_finalizer()->set_list_absent(true);
    return effect;
  }

  void Send(const std::vector<v1::Effect>& effects) {
    v1::Decision decision;
    for (const v1::Effect& effect : effects) *decision.add_effects() = effect;
    effector_->Send(decision,
                    {.journal = "0a1b2c3d", .epoch = 3, .sequence = 17});
  }

  // The outcomes once there are that many, by effect and order of arrival.
  std::vector<v1::Outcome> Await(size_t count) {
    absl::MutexLock lock(&mutex_);
    auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return outcomes_.size() >= count;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(30));
    EXPECT_EQ(outcomes_.size(), count);
    std::vector<v1::Outcome> sorted = outcomes_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const v1::Outcome& a, const v1::Outcome& b) {
                       return a.effect() < b.effect();
                     });
    return sorted;
  }

  static std::vector<v1::Outcome::Kind> KindsOf(
      const std::vector<v1::Outcome>& outcomes) {
    std::vector<v1::Outcome::Kind> kinds;
    for (const v1::Outcome& outcome : outcomes) {
      kinds.push_back(outcome.kind());
    }
    return kinds;
  }

  embedded::EmbeddedServer server_;
  std::unique_ptr<ApiClient> plain_, writes_;
  std::atomic<bool> may_write_ = true;
  absl::Mutex mutex_;
  std::vector<v1::Outcome> outcomes_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Effector> effector_;
};

TEST_F(EffectorTest, ALaterWriteToAnObjectGoesOutWithTheVersionOfTheFirst) {
  StartEffector({});
  const GpuClaim claim = MakeClaim("x");
  Send({Bind(claim, "n1"), Protect(claim)});
  const std::vector<v1::Outcome> outcomes = Await(2);
  EXPECT_THAT(KindsOf(outcomes),
              ElementsAre(v1::Outcome::APPLIED, v1::Outcome::APPLIED));
  const GpuClaim now = ReadClaim("x");
  EXPECT_EQ(now.phase, "Bound");
  EXPECT_EQ(now.node_name, "n1");
  EXPECT_THAT(now.meta.finalizers, ElementsAre(kClaimFinalizer));
  // The answer is the object as it now is, for the fold.
  EXPECT_EQ(outcomes[1].object().resource_version(), now.meta.resource_version);
  ASSERT_TRUE(now.decision.has_value());
  EXPECT_EQ(now.decision->journal, "0a1b2c3d");
  EXPECT_EQ(now.decision->epoch, 3u);
  EXPECT_EQ(now.decision->sequence, 17u);
}

TEST_F(EffectorTest, AConflictEndsTheRestOfItsSetAndOfNoOther) {
  StartEffector({});
  GpuClaim stale = MakeClaim("x");
  const GpuClaim y = MakeClaim("y"), other = MakeClaim("z");
  stale.meta.resource_version = "1";
  v1::Effect elsewhere = Bind(other, "n1");
  elsewhere.set_set_key("a/other");
  Send({Bind(stale, "n1"), Bind(y, "n1"), elsewhere});
  const std::vector<v1::Outcome> outcomes = Await(3);
  EXPECT_THAT(KindsOf(outcomes),
              ElementsAre(v1::Outcome::REFUSED, v1::Outcome::SKIPPED,
                          v1::Outcome::APPLIED));
  EXPECT_EQ(outcomes[0].code(), 409);
  // What the server holds comes along, so that the next pass is not stale.
  EXPECT_EQ(outcomes[0].object().resource_version(),
            ReadClaim("x").meta.resource_version);
  EXPECT_NE(ReadClaim("y").phase, "Bound");
  EXPECT_EQ(ReadClaim("z").phase, "Bound");
}

TEST_F(EffectorTest, ALostAnswerIsUnknownAndThenReadBackNeverSentAgain) {
  std::atomic<int> patches = 0;
  StartEffector([&](const embedded::ApiRequest& request) -> embedded::Fault {
    if (request.method != "PATCH") return {};
    ++patches;
    return {.kind = embedded::Fault::Kind::kLoseAnswer,
            .error = {.sent = true}};
  });
  const GpuClaim claim = MakeClaim("x"), y = MakeClaim("y");
  Send({Bind(claim, "n1"), Bind(y, "n1")});
  const std::vector<v1::Outcome> outcomes = Await(3);
  EXPECT_THAT(KindsOf(outcomes),
              ElementsAre(v1::Outcome::UNKNOWN, v1::Outcome::READ_BACK,
                          v1::Outcome::SKIPPED));
  EXPECT_EQ(patches, 1);
  const Object read =
      *DecodeObject(Kind::kGpuClaim, outcomes[1].object().json());
  EXPECT_EQ(std::get<GpuClaim>(read).node_name, "n1");
}

TEST_F(EffectorTest, AWriteThatNeverArrivedIsReadBackAsTheObjectWas) {
  StartEffector([](const embedded::ApiRequest& request) -> embedded::Fault {
    if (request.method != "PATCH") return {};
    return {.kind = embedded::Fault::Kind::kRefuse, .error = {.sent = true}};
  });
  const GpuClaim claim = MakeClaim("x");
  Send({Bind(claim, "n1")});
  const std::vector<v1::Outcome> outcomes = Await(2);
  EXPECT_THAT(KindsOf(outcomes),
              ElementsAre(v1::Outcome::UNKNOWN, v1::Outcome::READ_BACK));
  EXPECT_EQ(outcomes[1].object().resource_version(),
            claim.meta.resource_version);
}

TEST_F(EffectorTest, NothingStartsOnceTheLeaseDoesNotCoverIt) {
  std::atomic<int> requests = 0;
  StartEffector([&](const embedded::ApiRequest&) -> embedded::Fault {
    ++requests;
    return {};
  });
  const GpuClaim claim = MakeClaim("x");
  may_write_ = false;
  Send({Bind(claim, "n1"), Protect(claim)});
  EXPECT_THAT(KindsOf(Await(2)),
              ElementsAre(v1::Outcome::SKIPPED, v1::Outcome::SKIPPED));
  EXPECT_EQ(requests, 0);
}

TEST_F(EffectorTest, DeletingWhatHasGoneIsDone) {
  StartEffector({});
  const GpuClaim claim = MakeClaim("x");
  v1::Effect effect = EffectOn(Kind::kGpuClaim, claim.meta);
  effect.mutable_delete_template_claim();
  Send({effect});
  std::vector<v1::Outcome> outcomes = Await(1);
  EXPECT_EQ(outcomes[0].kind(), v1::Outcome::APPLIED);
  EXPECT_EQ(outcomes[0].object().type(), v1::ObjectEvent::DELETED);
  EXPECT_EQ(outcomes[0].object().uid(), claim.meta.uid);
  Send({effect});
  outcomes = Await(2);
  EXPECT_EQ(outcomes[1].kind(), v1::Outcome::APPLIED);
  EXPECT_EQ(outcomes[1].object().type(), v1::ObjectEvent::DELETED);
}

TEST_F(EffectorTest, AWarningThatIsThereCountsAsGiven) {
  StartEffector({});
  Create("events", "a",
         R"({"metadata":{"name":"w1"},"involvedObject":{"namespace":"a"}})");
  v1::Effect effect =
      EffectOn(Kind::kVirtualMachineInstance,
               {.name = "vm", .uid = "u1", .resource_version = "5"});
  effect.mutable_target()->set_namespace_("a");
  effect.mutable_emit_warning()->set_name("w1");
  effect.mutable_emit_warning()->set_reason(v1::NO_NODE_FITS);
  Send({effect});
  EXPECT_THAT(KindsOf(Await(1)), ElementsAre(v1::Outcome::APPLIED));
}

TEST_F(EffectorTest, ClassFinalizersGoOutBeforeAnythingElse) {
  absl::Mutex mutex;
  std::vector<std::string> patched;
  StartEffector([&](const embedded::ApiRequest& request) -> embedded::Fault {
    absl::MutexLock lock(&mutex);
    if (request.method == "PATCH") patched.push_back(request.target);
    return {};
  });
  Create("gpuclasses", "",
         R"({"apiVersion":"gpu.cozystack.io/v1alpha1","kind":"GPUClass",
             "metadata":{"name":"h100"},
             "spec":{"resourceName":"nvidia.com/H100"}})");
  ResourcePath path = ResourcePathOf(Kind::kGpuClass);
  path.name = "h100";
  const Object found =
      *DecodeObject(Kind::kGpuClass, *plain_->Get(path, absl::Seconds(5)));
  v1::Effect protect = EffectOn(Kind::kGpuClass, MetaOf(found));
  protect.mutable_add_finalizer()->set_finalizer(kClassFinalizer);
  protect.mutable_add_finalizer()->set_list_absent(true);
  // Also when the decision lists it last.
  Send({Bind(MakeClaim("x"), "n1"), protect});
  EXPECT_THAT(KindsOf(Await(2)),
              ElementsAre(v1::Outcome::APPLIED, v1::Outcome::APPLIED));
  ASSERT_EQ(patched.size(), 2u);
  EXPECT_TRUE(absl::StrContains(patched[0], "/gpuclasses/h100"));
}

}  // namespace
}  // namespace gpubinder
