#include "reconciler/model/effect.h"

#include "gtest/gtest.h"
#include "reconciler/model/config.h"
#include "reconciler/model/objects.h"

namespace gpubinder {
namespace {

TEST(PinToTest, TakesOurGateOffWhereItStands) {
  Pod pod;
  pod.gates = {"example.org/hold", kGate};
  EXPECT_EQ(PinTo("a", pod, {}).gate_index(), 1);
}

TEST(PinToTest, AddsTheTolerationsThatThePodLacks) {
  Pod pod;
  pod.gates = {kGate};
  pod.tolerations = {{.key = "gpu", .op = "Exists"}};
  GpuClass found;
  found.tolerations = {{.key = "gpu", .op = "Exists"},
                       {.key = "drain",
                        .op = "Equal",
                        .value = "soon",
                        .effect = "NoExecute",
                        .seconds = 60}};
  const v1::PinPod pin = PinTo("a", pod, {&found});
  EXPECT_TRUE(pin.has_tolerations());
  ASSERT_EQ(pin.add_tolerations_size(), 1);
  EXPECT_EQ(pin.add_tolerations(0).key(), "drain");
  EXPECT_EQ(pin.add_tolerations(0).operator_(), "Equal");
  EXPECT_EQ(pin.add_tolerations(0).value(), "soon");
  EXPECT_EQ(pin.add_tolerations(0).effect(), "NoExecute");
  EXPECT_EQ(pin.add_tolerations(0).toleration_seconds(), 60);
}

}  // namespace
}  // namespace gpubinder
