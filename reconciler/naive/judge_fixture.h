// A small cluster and the pass over it, for tests that spoil the pass and want
// the judge to say so.

#ifndef RECONCILER_NAIVE_JUDGE_FIXTURE_H_
#define RECONCILER_NAIVE_JUDGE_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/testing/object_event.h"
#include "reconciler/naive/judge.h"

namespace gpubinder {

inline constexpr char kH100[] = "nvidia.com/H100";
inline const absl::Time kNow = absl::FromUnixSeconds(1767225600);

// Node a has 4 units, b has 2. VM web names x and y (1 unit each); its gated
// launcher asks for 2. The order z wants 1. By G4 web goes to b, the fullest
// of those that fit; then z goes to a, since b has nothing left.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    for (const absl::string_view kind : kKindNames) {
      v1::Record began;
      began.mutable_list_began()->set_kind(std::string(kind));
      Fold(began, std::nullopt, snapshot_);
    }
    AddNode("a", "4");
    AddNode("b", "2");
    Add(GpuClass{.meta = Meta("", "h100", {kClassFinalizer}),
                 .resource_name = kH100});
    VirtualMachineInstance vmi{.meta = Meta("t", "web", {})};
    vmi.claims = {.present = true,
                  .entries = {{.claim_name = "x"}, {.claim_name = "y"}}};
    vmi.active_pods["uid-pod"] = "";
    Add(vmi);
    Pod pod{.meta = Meta("t", "pod", {}), .gates = {kGate}};
    pod.containers = {{.name = "compute", .requests = {{kH100, "2"}}}};
    Add(pod);
    for (const char* name : {"x", "y", "z"}) {
      Add(GpuClaim{.meta = Meta("t", name, {kClaimFinalizer}),
                   .class_name = "h100"});
    }
    for (const absl::string_view kind : kKindNames) {
      v1::Record ended;
      ended.mutable_list_ended()->set_kind(std::string(kind));
      Fold(ended, std::nullopt, snapshot_);
    }
    type_ = v1::ObjectEvent::MODIFIED;
    Pass(kNow);
  }

  void Pass(absl::Time now) {
    now_ = now;
    result_ = RunPass(snapshot_, now);
    result_.sets = ViewsOf(snapshot_);
  }

  static ObjectMeta Meta(const char* name_space, const char* name,
                         std::vector<std::string> finalizers) {
    return {.name_space = name_space,
            .name = name,
            .uid = absl::StrCat("uid-", name),
            .resource_version = "1",
            .created = kNow,
            .finalizers = std::move(finalizers)};
  }
  void AddNode(const char* name, const char* units) {
    Node node{.meta = Meta("", name, {})};
    node.meta.labels["kubevirt.io/schedulable"] = "true";
    node.allocatable[kH100] = units;
    node.conditions = {{.type = "Ready", .status = "True"}};
    Add(node);
  }
  void Add(Object object) {
    v1::Record record;
    record.set_time_unix_nanos(absl::ToUnixNanos(now_));
    *record.mutable_object() = EventOf(type_, object);
    Fold(record, object, snapshot_);
  }

  v1::Effect& EffectOn(const char* name, v1::Effect::WriteCase write) {
    for (v1::Effect& effect : result_.effects) {
      if (effect.target().name() == name && effect.write_case() == write) {
        return effect;
      }
    }
    ADD_FAILURE() << "no such effect on " << name;
    return result_.effects[0];
  }
  void Drop(const v1::Effect& effect) {
    std::erase_if(result_.effects,
                  [&](const v1::Effect& one) { return &one == &effect; });
  }
  SetView& View(const char* key) {
    for (SetView& view : result_.sets) {
      if (view.set.key() == key) return view;
    }
    ADD_FAILURE() << "no set " << key;
    return result_.sets[0];
  }
  // Whether a fault says all of it.
  void ExpectFault(const char* text) {
    const std::vector<std::string> faults = JudgePass(snapshot_, now_, result_);
    for (const std::string& fault : faults) {
      if (absl::StrContains(fault, text)) return;
    }
    ADD_FAILURE() << "no fault says: " << text
                  << "\nthe faults: " << absl::StrJoin(faults, "\n");
  }

  absl::Time now_ = kNow;
  v1::ObjectEvent::Type type_ = v1::ObjectEvent::LISTED;
  Snapshot snapshot_;
  PassResult result_;
};

}  // namespace gpubinder

#endif  // RECONCILER_NAIVE_JUDGE_FIXTURE_H_
