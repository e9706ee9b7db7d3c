// One object of each kind, as the API sends it, against the struct that it
// says (worked out by hand), and what DecodeAnyObject makes of kinds.

#include "k8s/object_codec.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "gtest/gtest.h"
#include "k8s/sample_objects.h"

namespace gpubinder {
namespace {

absl::Time At(int day, int hour, int minute, int second) {
  const int month = day == 30 ? 11 : 12;
  return absl::FromCivil(
      absl::CivilSecond(2026, month, day, hour, minute, second),
      absl::UTCTimeZone());
}

template <typename T>
T DecodeSample(Kind kind) {
  absl::StatusOr<Object> object = DecodeObject(kind, SampleObject(kind));
  EXPECT_TRUE(object.ok()) << object.status();
  if (!object.ok()) return T();
  for (const FieldProblem& problem : MetaOf(*object).problems) {
    ADD_FAILURE() << problem.field << ": " << problem.message;
  }
  return std::get<T>(*object);
}

ObjectMeta Meta(const char* name, const char* uid, const char* version) {
  return {.name = name,
          .uid = uid,
          .resource_version = version,
          .created = At(30, 10, 0, 0)};
}

TEST(ObjectCodecTest, ReadsANode) {
  Node want{.meta = Meta("gpu-1", "n-1", "101"), .unschedulable = true};
  want.meta.deleting = At(1, 9, 0, 0);
  want.meta.generation = 3;
  want.meta.labels = {{"kubernetes.io/hostname", "gpu-1"},
                      {"kubevirt.io/schedulable", "true"}};
  want.meta.annotations = {{"note", "a"}};  // last-applied is never read
  want.meta.finalizers = {"example.org/hold"};
  want.taints = {{"gpu", "h100", "NoSchedule"},
                 {"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
  want.allocatable = {{"cpu", "64"},
                      {"memory", "1056764Ki"},
                      {"nvidia.com/GH100_H100_PCIE", "8"}};
  want.conditions = {{.type = "Ready",
                      .status = "True",
                      .reason = "KubeletReady",
                      .message = "kubelet is posting ready status",
                      .last_transition = At(30, 10, 0, 30)}};
  EXPECT_TRUE(DecodeSample<Node>(Kind::kNode) == want);
}

TEST(ObjectCodecTest, ReadsAClass) {
  GpuClass want{.meta = Meta("h100", "c-1", "102"),
                .resource_name = "nvidia.com/GH100_H100_PCIE",
                .type = "VGPU",
                .max_count = 4,
                .node_selector = {{"pool", "gpu"}},
                .on_cordon = "Stay"};
  want.meta.generation = 2;
  want.meta.finalizers = {"gpu.cozystack.io/class-in-use"};
  want.tolerations = {{"gpu", "Equal", "h100", "NoExecute", 30}};
  want.conditions = {
      {"Ready", "True", "Serving", "3 nodes", 2, At(30, 10, 1, 0)}};
  EXPECT_TRUE(DecodeSample<GpuClass>(Kind::kGpuClass) == want);
}

TEST(ObjectCodecTest, ReadsAClaim) {
  GpuClaim want{.meta = Meta("web-0-1a2b3c4d", "g-1", "103"),
                .class_name = "h100",
                .units = 2,
                .phase = "Bound",
                .node_name = "gpu-1",
                .resource_name = "nvidia.com/GH100_H100_PCIE",
                .bound_at = At(1, 8, 0, 0)};
  want.meta.name_space = "tenant-a";
  want.meta.generation = 1;
  want.meta.labels = {{"gpu.cozystack.io/template-claim", "web"}};
  want.meta.finalizers = {"gpu.cozystack.io/claim-protection"};
  want.meta.owners = {
      {"kubevirt.io/v1", "VirtualMachineInstance", "web", "i-1", false}};
  want.rejected_nodes = {{.node_name = "gpu-2",
                          .node_uid = "n-2",
                          .pod_uid = "p-0",
                          .resources = {"nvidia.com/GH100_H100_PCIE", "cpu"},
                          .reason = "Insufficient nvidia.com/GH100_H100_PCIE",
                          .fingerprint = "0123456789abcdef",
                          .rejected_at = At(1, 7, 59, 0),
                          .until = At(1, 8, 9, 0)}};
  want.attached_to =
      Attachment{"web", "i-1", At(1, 7, 58, 0) + absl::Milliseconds(250)};
  want.conditions = {
      {"Bound", "True", "Placed", "on gpu-1", 0, At(1, 8, 0, 0)}};
  want.decision = DecisionKey{"0a1b2c3d", 7, 4711};
  EXPECT_TRUE(DecodeSample<GpuClaim>(Kind::kGpuClaim) == want);
}

TEST(ObjectCodecTest, ReadsASet) {
  GpuClaimSet want{.meta = Meta("web", "s-1", "104"),
                   .claims = {"web-0-1a2b3c4d", "disk-gpu"},
                   .node_name = "gpu-1",
                   .vmi_uid = "i-1",
                   .pod_uid = "p-1",
                   .reason = "NoNodeFits",
                   .message =
                       "2 nodes InsufficientUnits (most free 3, "
                       "wanted 4)",
                   .ended_vmi = "i-0",
                   .since = At(1, 8, 0, 0),
                   .transitions = 3};
  want.meta.name_space = "tenant-a";
  want.meta.generation = 1;
  want.meta.owners = {
      {"kubevirt.io/v1", "VirtualMachine", "web", "v-1", false}};
  want.rejected_nodes = {{.node_name = "gpu-2",
                          .node_uid = "n-2",
                          .pod_uid = "p-0",
                          .resources = {"cpu"},
                          .reason = "Insufficient cpu",
                          .fingerprint = "0123456789abcdef",
                          .rejected_at = At(1, 7, 59, 0),
                          .until = At(1, 8, 9, 0)}};
  want.summary = {{.reason = "InsufficientUnits",
                   .example = "gpu-1",
                   .resource = "nvidia.com/GH100_H100_PCIE",
                   .key = "requests.nvidia.com/GH100_H100_PCIE",
                   .nodes = 2}};
  want.decision = DecisionKey{"0a1b2c3d", 7, 4712};
  EXPECT_TRUE(DecodeSample<GpuClaimSet>(Kind::kGpuClaimSet) == want);
}

TEST(ObjectCodecTest, ReadsAVirtualMachine) {
  VirtualMachine want{.meta = Meta("web", "v-1", "105"),
                      .run_strategy = "RerunOnFailure"};
  want.meta.name_space = "tenant-a";
  want.meta.generation = 4;
  want.meta.finalizers = {"kubevirt.io/virtualMachineControllerFinalize"};
  want.claims.present = true;
  want.claims.entries = {{.claim_name = "disk-gpu"},
                         {.class_name = "h100", .units = 2}};
  want.volume_claims = {"web-disk", "web-data", "golden"};
  want.state_changes = {{"Stop", "i-0"}, {"Start", ""}};
  EXPECT_TRUE(DecodeSample<VirtualMachine>(Kind::kVirtualMachine) == want);
}

TEST(ObjectCodecTest, ReadsAVirtualMachineInstance) {
  VirtualMachineInstance want{.meta = Meta("web", "i-1", "106"),
                              .phase = "Running",
                              .node_name = "gpu-1"};
  want.meta.name_space = "tenant-a";
  want.meta.created = At(1, 7, 58, 1);
  want.meta.generation = 9;
  want.meta.annotations = {
      {"gpu.cozystack.io/claims",
       R"([{"claimTemplate":{"className":"h100","count":2}}])"}};
  want.meta.finalizers = {"kubevirt.io/virtualMachineControllerFinalize",
                          "kubevirt.io/foregroundDeleteVirtualMachine"};
  want.meta.owners = {{"kubevirt.io/v1", "VirtualMachine", "web", "v-1", true}};
  want.claims.present = true;
  want.claims.entries = {{.class_name = "h100", .units = 2}};
  want.active_pods = {{"p-1", "gpu-1"}, {"p-2", ""}};
  want.volume_claims = {"web-disk", "web-hot", "web-data", "web-dump"};
  want.hotplug_claims = {"web-hot", "web-dump"};
  want.conditions = {{.type = "Synchronized",
                      .status = "False",
                      .reason = "FailedCreate",
                      .message = "exceeded quota"}};
  want.gpus = {{"gpuclaim-0-0", "nvidia.com/GH100_H100_PCIE"}};
  want.host_devices = {{"nic", "example.org/NIC"}};
  want.resource_requests = {{"memory", "1Gi"}};
  want.resource_limits = {{"cpu", "2"}};
  EXPECT_TRUE(DecodeSample<VirtualMachineInstance>(
                  Kind::kVirtualMachineInstance) == want);
}

TEST(ObjectCodecTest, ReadsALauncherPod) {
  Pod want{.meta = Meta("virt-launcher-web-x7k2p", "p-1", "107"),
           .node_name = "gpu-1",
           .gates = {"example.org/other", "gpu.cozystack.io/claims"},
           .node_selector = {{"kubevirt.io/schedulable", "true"}},
           .has_affinity = true,
           .has_node_affinity = true};
  want.meta.name_space = "tenant-a";
  want.meta.created = At(1, 7, 58, 2);
  want.meta.generation = 1;
  want.meta.labels = {{"kubevirt.io", "virt-launcher"},
                      {"kubevirt.io/created-by", "i-1"}};
  want.meta.annotations = {{"kubevirt.io/domain", "web"}};
  want.meta.owners = {
      {"kubevirt.io/v1", "VirtualMachineInstance", "web", "i-1", true}};
  SelectorTerm term;
  term.expressions = {
      {"node-labeller.kubevirt.io/obsolete-host-model", "DoesNotExist", {}}};
  term.fields = {{"metadata.name", "In", {"gpu-1"}}};
  want.required = NodeSelector{{term, SelectorTerm()}};
  want.tolerations = {
      {"node.kubernetes.io/not-ready", "Exists", "", "NoExecute", 300}};
  want.init_containers = {{"guest-console-log", {{"cpu", "5m"}}, true}};
  want.containers = {{"compute",
                      {{"cpu", "100m"},
                       {"devices.kubevirt.io/kvm", "1"},
                       {"nvidia.com/GH100_H100_PCIE", "2"}},
                      false}};
  want.overhead = {{"memory", "10Mi"}};
  want.pod_requests = {{"cpu", "2"}};
  want.volume_claims = {"web-disk"};
  want.phase = "Failed";
  want.reason = "UnexpectedAdmissionError";
  want.nominated_node = "gpu-9";
  want.conditions = {{"PodScheduled", "False", "SchedulingGated",
                      "Scheduling is blocked due to non-empty scheduling gates",
                      1, At(1, 7, 58, 2)}};
  EXPECT_TRUE(DecodeSample<Pod>(Kind::kPod) == want);
}

TEST(ObjectCodecTest, ReadsTheSmallKinds) {
  Namespace name_space{.meta = Meta("tenant-a", "ns-1", "108"),
                       .terminating = true};
  name_space.meta.labels = {{"gpu.cozystack.io/vgpu", "true"}};
  EXPECT_TRUE(DecodeSample<Namespace>(Kind::kNamespace) == name_space);

  ResourceQuota quota{.meta = Meta("tenant-quota", "q-1", "109"),
                      .hard = {{"requests.gpu.cozystack.io/h100", "4"},
                               {"requests.nvidia.com/GH100_H100_PCIE", "8"}}};
  quota.meta.name_space = "tenant-a";
  EXPECT_TRUE(DecodeSample<ResourceQuota>(Kind::kResourceQuota) == quota);

  PersistentVolumeClaim claim{.meta = Meta("web-disk", "pvc-1", "110"),
                              .volume_name = "pv-1",
                              .bind_completed = true};
  claim.meta.name_space = "tenant-a";
  claim.meta.annotations = {{"pv.kubernetes.io/bind-completed", "yes"}};
  EXPECT_TRUE(DecodeSample<PersistentVolumeClaim>(
                  Kind::kPersistentVolumeClaim) == claim);

  PersistentVolume volume{.meta = Meta("pv-1", "pv-u", "111"),
                          .claim_namespace = "tenant-a",
                          .claim_name = "web-disk",
                          .claim_uid = "pvc-1"};
  SelectorTerm hosts;
  hosts.expressions = {{"kubernetes.io/hostname", "In", {"gpu-1", "gpu-2"}}};
  volume.required = NodeSelector{{hosts}};
  EXPECT_TRUE(DecodeSample<PersistentVolume>(Kind::kPersistentVolume) ==
              volume);

  SchedulingClass scheduling{.meta = Meta("gold", "sc-1", "112"),
                             .node_selector = {{"tier", "gold"}}};
  SelectorTerm racks;
  racks.expressions = {{"rack", "NotIn", {"r1"}}};
  scheduling.required = NodeSelector{{racks}};
  EXPECT_TRUE(DecodeSample<SchedulingClass>(Kind::kSchedulingClass) ==
              scheduling);

  ConfigMap settings{.meta = Meta("gpu-settings", "cm-1", "114"),
                     .data = {{"rawResourceNames", "allowed"},
                              {"resourceNames", "nvidia.com/GH100_H100_PCIE"}}};
  settings.meta.name_space = "cozy-system";
  EXPECT_TRUE(DecodeSample<ConfigMap>(Kind::kConfigMap) == settings);
}

TEST(ObjectCodecTest, ReadsAUsageRecord) {
  Workload record{.meta = Meta("gpu-data", "w-1", "113"),
                  .kind = "gpu",
                  .type = "h100",
                  .resources = {{"nvidia.com/GH100_H100_PCIE", "2"}},
                  .operational = true};
  record.meta.name_space = "tenant-a";
  record.meta.generation = 1;
  record.meta.labels = {{"workloads.cozystack.io/monitor", "web"}};
  record.meta.owners = {{.api_version = "gpu.cozystack.io/v1alpha1",
                         .kind = "GPUClaim",
                         .name = "data",
                         .uid = "g-1"}};
  EXPECT_TRUE(DecodeSample<Workload>(Kind::kWorkload) == record);
}

// A plan is given all sorts of ConfigMaps.
TEST(ObjectCodecTest, OfConfigMapsOnlyTheSettingsAreModelled) {
  const auto any = [](const char* name) {
    return DecodeAnyObject(absl::StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name,
        R"("}})"));
  };
  EXPECT_TRUE(any("gpu-settings")->object.has_value());
  EXPECT_FALSE(any("kube-root-ca.crt")->object.has_value());
}

TEST(ObjectCodecTest, RunningIsTranslated) {
  const auto strategy = [](absl::string_view spec) {
    const absl::StatusOr<Object> vm = DecodeObject(
        Kind::kVirtualMachine, absl::StrCat(R"({"spec":)", spec, "}"));
    return std::get<VirtualMachine>(*vm).run_strategy;
  };
  EXPECT_EQ(strategy(R"({"running":true})"), "Always");
  EXPECT_EQ(strategy(R"({"running":false})"), "Halted");
  EXPECT_EQ(strategy(R"({"running":null})"), "");
  EXPECT_EQ(strategy(R"({})"), "");
  EXPECT_EQ(strategy(R"({"runStrategy":"Once"})"), "Once");
}

TEST(ObjectCodecTest, ALimitWithoutRequestIsARequest) {
  const absl::StatusOr<Object> pod =
      DecodeObject(Kind::kPod, R"({"spec":{"containers":[{"resources":{
          "limits":{"a.b/gpu":"2","cpu":"4"},"requests":{"cpu":"1"}}}]}})");
  const ResourceList want = {{"a.b/gpu", "2"}, {"cpu", "1"}};
  EXPECT_EQ(std::get<Pod>(*pod).containers[0].requests, want);
}

TEST(ObjectCodecTest, AnAffinityThatIsThereButEmptyIsSeen) {
  const auto pod = [](absl::string_view affinity) {
    return std::get<Pod>(*DecodeObject(
        Kind::kPod, absl::StrCat(R"({"spec":{"affinity":)", affinity, "}}")));
  };
  EXPECT_FALSE(pod("null").has_affinity);
  EXPECT_TRUE(pod("{}").has_affinity);
  EXPECT_FALSE(pod("{}").has_node_affinity);
  EXPECT_TRUE(pod(R"({"nodeAffinity":{}})").has_node_affinity);
  EXPECT_FALSE(pod(R"({"nodeAffinity":{}})").required.has_value());
  // Terms that are there but empty match no node, which is no missing rule.
  const Pod none = pod(
      R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[]}}})");
  ASSERT_TRUE(none.required.has_value());
  EXPECT_TRUE(none.required->terms.empty());
}

TEST(ObjectCodecTest, ABadClaimsAnnotationIsKeptWithItsError) {
  const absl::StatusOr<Object> vmi =
      DecodeObject(Kind::kVirtualMachineInstance,
                   R"({"metadata":{"annotations":{
                       "gpu.cozystack.io/claims":"[]"}}})");
  const ClaimsAnnotation& claims =
      std::get<VirtualMachineInstance>(*vmi).claims;
  EXPECT_TRUE(claims.present);
  EXPECT_EQ(claims.error, "found an empty list, want 1 to 16 entries");
  EXPECT_TRUE(MetaOf(*vmi).problems.empty());
}

TEST(DecodeAnyObjectTest, FindsTheKindInItsGroupOnly) {
  const auto decode = [](absl::string_view version, absl::string_view kind) {
    return *DecodeAnyObject(
        absl::StrCat(R"({"apiVersion":")", version, R"(","kind":")", kind,
                     R"(","metadata":{"name":"x","namespace":"n"}})"));
  };
  const AnyObject vm = decode("kubevirt.io/v1", "VirtualMachine");
  EXPECT_EQ(vm.kind, "VirtualMachine");
  EXPECT_EQ(vm.name_space, "n");
  EXPECT_EQ(vm.name, "x");
  ASSERT_TRUE(vm.object.has_value());
  EXPECT_EQ(KindOf(*vm.object), Kind::kVirtualMachine);
  EXPECT_TRUE(decode("kubevirt.io/v1alpha3", "VirtualMachine").object);
  EXPECT_FALSE(decode("example.org/v1", "VirtualMachine").object);
  EXPECT_FALSE(decode("v1", "VirtualMachine").object);
  EXPECT_TRUE(decode("v1", "Pod").object);
  EXPECT_FALSE(decode("metrics.k8s.io/v1", "Pod").object);
  EXPECT_TRUE(decode("gpu.cozystack.io/v1alpha1", "GPUClaim").object);
  EXPECT_TRUE(decode("cozystack.io/v1alpha1", "SchedulingClass").object);
  EXPECT_FALSE(decode("v1", "Secret").object);
}

TEST(DecodeAnyObjectTest, SaysWhichKindADefinitionServes) {
  const auto defines = [](absl::string_view group, absl::string_view kind) {
    return DecodeAnyObject(
               absl::StrCat(R"({"apiVersion":"apiextensions.k8s.io/v1",)"
                            R"("kind":"CustomResourceDefinition",)"
                            R"("spec":{"group":")",
                            group, R"(","names":{"kind":")", kind, "\"}}}"))
        ->defines;
  };
  EXPECT_EQ(defines("kubevirt.io", "VirtualMachineInstance"),
            Kind::kVirtualMachineInstance);
  EXPECT_EQ(defines("example.org", "VirtualMachineInstance"), std::nullopt);
  EXPECT_EQ(defines("kubevirt.io", "KubeVirt"), std::nullopt);
}

TEST(DecodeAnyObjectTest, NamesWhatIsMissing) {
  const auto message = [](absl::string_view json) {
    return std::string(DecodeAnyObject(json).status().message());
  };
  EXPECT_EQ(message(R"({"apiVersion":"v1","metadata":{"name":"x"}})"),
            "object \"x\" has no kind: found null, want a text");
  EXPECT_EQ(message(R"({"kind":"Pod","apiVersion":7})"),
            "object \"\" has no apiVersion: found the number 7, want a text");
  EXPECT_EQ(message("[]"), "found a list, want a JSON object");
  EXPECT_EQ(message("5"), "found the number 5, want a JSON object");
}

}  // namespace
}  // namespace gpubinder
