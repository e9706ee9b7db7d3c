#include "k8s/object_filter.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gpubinder {
namespace {

std::string Filter(Kind kind, absl::string_view json) {
  return FilterForJournal(kind, json).value_or("nothing");
}

std::string FilterPodWith(absl::string_view labels, absl::string_view spec) {
  return Filter(Kind::kPod, absl::StrCat(R"({"metadata":{"labels":)", labels,
                                         R"(},"spec":)", spec, "}"));
}

TEST(ObjectFilterTest, TakesSecretsOutOfPods) {
  EXPECT_EQ(
      Filter(Kind::kPod,
             R"({"metadata":{"labels":{"kubevirt.io":"virt-launcher"},
                 "managedFields":[1],"annotations":{"a":"b",
                 "kubectl.kubernetes.io/last-applied-configuration":"s"}},
                 "spec":{"containers":[{"name":"c","command":["s"],"args":["s"],
                 "env":[{"name":"A","value":"s"},
                        {"name":"B","valueFrom":{"fieldRef":{}}}]}]}})"),
      R"({"metadata":{"labels":{"kubevirt.io":"virt-launcher"},)"
      R"("annotations":{"a":"b"}},"spec":{"containers":[{"name":"c",)"
      R"("env":[{"name":"A"},{"name":"B","valueFrom":{"fieldRef":{}}}]}]}})");
}

TEST(ObjectFilterTest, TakesUserDataOutOfVirtualMachines) {
  EXPECT_EQ(Filter(Kind::kVirtualMachineInstance,
                   R"({"spec":{"accessCredentials":[{}],"volumes":[
                       {"name":"a","cloudInitNoCloud":{"userData":"s"}},
                       {"name":"b","cloudInitConfigDrive":{}},
                       {"name":"c","sysprep":{}},
                       {"name":"d","dataVolume":{"name":"x"}}]}})"),
            R"({"spec":{"volumes":[{"name":"a"},{"name":"b"},{"name":"c"},)"
            R"({"name":"d","dataVolume":{"name":"x"}}]}})");
  EXPECT_EQ(Filter(Kind::kVirtualMachine,
                   R"({"spec":{"template":{"spec":{"accessCredentials":[{}],
                       "volumes":[{"cloudInitNoCloud":{}}]}},
                       "dataVolumeTemplates":[{"spec":{"source":{"http":{
                       "url":"u","extraHeaders":["s"]}}}}]}})"),
            R"({"spec":{"template":{"spec":{"volumes":[{}]}},)"
            R"("dataVolumeTemplates":[{"spec":{"source":{"http":{)"
            R"("url":"u"}}}}]}})");
}

TEST(ObjectFilterTest, NamesThatOnlyLookAlikeStay) {
  const char* label = R"({"metadata":{"labels":{"sysprep":"a","env":"b"}}})";
  EXPECT_EQ(Filter(Kind::kVirtualMachineInstance, label), label);
  const char* node = R"({"spec":{"containers":[{"command":["x"]}]}})";
  EXPECT_EQ(Filter(Kind::kNode, node), node);
}

TEST(ObjectFilterTest, PodsOfNoConcernAreLeftOut) {
  EXPECT_EQ(FilterPodWith("{}", R"({"containers":[{"name":"c"}]})"), "nothing");
  EXPECT_EQ(FilterPodWith(R"({"kubevirt.io":"hotplug-disk"})",
                          R"({"containers":[{"resources":{"requests":{
                              "cpu":"1","hugepages-2Mi":"1",
                              "devices.kubevirt.io/kvm":"1",
                              "x.kubernetes.io/y":"1"}}}]})"),
            "nothing");
}

TEST(ObjectFilterTest, LaunchersAndPodsThatAskForDevicesStay) {
  const char* launcher = R"({"kubevirt.io":"virt-launcher"})";
  EXPECT_NE(FilterPodWith(launcher, "{}"), "nothing");
  for (const char* spec :
       {R"({"containers":[{},{"resources":{"requests":{"a.b/gpu":"1"}}}]})",
        R"({"containers":[{"resources":{"limits":{"a.b/gpu":"1"}}}]})",
        R"({"initContainers":[{"resources":{"requests":{"a.b/gpu":1}}}]})",
        R"({"overhead":{"a.b/gpu":"1"}})"}) {
    EXPECT_NE(FilterPodWith("{}", spec), "nothing") << spec;
  }
}

TEST(ObjectFilterTest, WhatIsNoObjectGivesNothing) {
  for (const char* text : {"", "[]", "null", "{", "{\"a\":}"}) {
    EXPECT_EQ(Filter(Kind::kNode, text), "nothing") << text;
  }
}

TEST(ObjectFilterTest, OfWorkloadsAndConfigMapsOnlyTheBindersAreKept) {
  const auto named = [](const char* name) {
    return absl::StrCat(R"({"metadata":{"name":")", name, R"("}})");
  };
  EXPECT_EQ(Filter(Kind::kWorkload, named("gpu-data")), named("gpu-data"));
  EXPECT_EQ(Filter(Kind::kWorkload, named("pod-web")), "nothing");
  EXPECT_EQ(Filter(Kind::kConfigMap, named("gpu-settings")),
            named("gpu-settings"));
  EXPECT_EQ(Filter(Kind::kConfigMap, named("gpu-settings-2")), "nothing");
  EXPECT_EQ(Filter(Kind::kWorkload, R"({"metadata":{"name":7}})"), "nothing");
}

}  // namespace
}  // namespace gpubinder
