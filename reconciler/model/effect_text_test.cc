#include "reconciler/model/effect_text.h"

#include "gtest/gtest.h"

namespace gpubinder {
namespace {

TEST(WriteTextTest, NamesTheWriteAndItsObject) {
  v1::Effect effect;
  effect.mutable_delete_vmi();
  effect.mutable_target()->set_kind("VirtualMachineInstance");
  effect.mutable_target()->set_namespace_("t");
  effect.mutable_target()->set_name("web");
  EXPECT_EQ(WriteText(effect), "DeleteVMI of VirtualMachineInstance t/web");
}

TEST(WriteTextTest, OfWhatHasNoNamespaceNamesNone) {
  v1::Effect effect;
  effect.mutable_add_finalizer();
  effect.mutable_target()->set_kind("GPUClass");
  effect.mutable_target()->set_name("h100");
  EXPECT_EQ(WriteText(effect), "AddFinalizer of GPUClass h100");
}

TEST(EffectKindNameTest, AnEffectWithoutAWriteHasNone) {
  EXPECT_EQ(EffectKindName(v1::Effect()), "");
}

}  // namespace
}  // namespace gpubinder
