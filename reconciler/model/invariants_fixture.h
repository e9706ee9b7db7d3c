// A node, a class and two orders, for tests of what the invariants notice of a
// result made by hand.

#ifndef RECONCILER_MODEL_INVARIANTS_FIXTURE_H_
#define RECONCILER_MODEL_INVARIANTS_FIXTURE_H_

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "proto/journal.pb.h"
#include "reconciler/model/config.h"
#include "reconciler/model/effect.h"
#include "reconciler/model/fold.h"
#include "reconciler/model/invariants.h"
#include "reconciler/model/objects.h"
#include "reconciler/model/testing/object_event.h"

namespace gpubinder {

inline constexpr char kH100[] = "nvidia.com/H100";

class InvariantsTest : public testing::Test {
 protected:
  void SetUp() override {
    Node node;
    node.meta = {.name = "a", .uid = "n-a"};
    node.allocatable[kH100] = "2";
    node.conditions = {{.type = "Ready", .status = "True"}};
    Add(node);
    GpuClass found{.resource_name = kH100};
    found.meta = {.name = "h100", .uid = "c"};
    Add(found);
    for (const char* name : {"x", "y"}) {
      GpuClaim claim{.class_name = "h100", .units = 2};
      claim.meta = {.name_space = "t",
                    .name = name,
                    .uid = name,
                    .resource_version = "1"};
      Add(claim);
    }
    pod_.meta = {
        .name_space = "t", .name = "p", .uid = "p", .resource_version = "1"};
    pod_.gates = {kGate};
  }
  void Add(const Object& object) {
    v1::Record record;
    *record.mutable_object() = EventOf(v1::ObjectEvent::ADDED, object);
    Fold(record, object, snapshot_);
  }
  void Bind(const char* claim, const char* node) {
    v1::Effect effect =
        EffectOn(Kind::kGpuClaim, snapshot_.claims().Find("t", claim)->meta);
    effect.mutable_bind_claim()->set_node_name(node);
    effect.mutable_bind_claim()->set_resource_name(kH100);
    result_.effects.push_back(effect);
  }
  void Pin() {
    v1::Effect effect = EffectOn(Kind::kPod, pod_.meta);
    effect.mutable_pin_pod()->set_node_name("a");
    result_.effects.push_back(effect);
  }
  // Whether a broken invariant of this letter is told.
  testing::AssertionResult Breaks(const std::string& letter) const {
    const std::vector<std::string> broken =
        BrokenInvariants(snapshot_, result_);
    for (const std::string& line : broken) {
      if (absl::StartsWith(line, letter + ": ")) {
        return testing::AssertionSuccess();
      }
    }
    return testing::AssertionFailure() << absl::StrJoin(broken, "\n");
  }

  Snapshot snapshot_;
  PassResult result_;
  Pod pod_;
};

// A set t/web of the claim x.
inline SetView ViewOfWeb(const Snapshot& snapshot) {
  SetView view;
  view.set.name_space = "t";
  view.set.name = "web";
  view.set.of_vm = true;
  view.set.members = {*snapshot.claims().FindRow("t", "x")};
  return view;
}

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_INVARIANTS_FIXTURE_H_
