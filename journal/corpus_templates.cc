#include "journal/corpus_templates.h"

namespace gpubinder {

const char kClaimTemplate[] = R"({
"apiVersion":"gpu.cozystack.io/v1alpha1","kind":"GPUClaim",
"metadata":{"creationTimestamp":"@CREATED@","finalizers":[
 "gpu.cozystack.io/claim-protection"],"generation":1,"labels":{
 "gpu.cozystack.io/template-claim":"@VM@"},"name":"@CLAIM@",
 "namespace":"@NAMESPACE@","ownerReferences":[{"apiVersion":"kubevirt.io/v1",
 "blockOwnerDeletion":false,"controller":false,
 "kind":"VirtualMachineInstance","name":"@VM@","uid":"@VMI_UID@"}],
 "resourceVersion":"@VERSION@","uid":"@UID@"},
"spec":{"className":"@CLASS@","count":@COUNT@},
"status":{"attachedTo":{"name":"@VM@","since":"@CREATED@","uid":"@VMI_UID@"}
@CLAIM_STATUS@}})";

const char kClaimBoundStatus[] = R"(,
"boundAt":"@NOW@","conditions":[{"lastTransitionTime":"@NOW@",
 "message":"bound to node @NODE@","observedGeneration":1,"reason":"Placed",
 "status":"True","type":"Bound"},{"lastTransitionTime":"@NOW@",
 "message":"the whole set has a place on node @NODE@","observedGeneration":1,
 "reason":"Placed","status":"True","type":"Gathered"}],
"decision":{"epoch":3,"journal":"@JOURNAL@","sequence":@SEQUENCE@},
"nodeName":"@NODE@","phase":"Bound","resourceName":"@RESOURCE@")";

const char kLauncherTemplate[] = R"({
"apiVersion":"v1","kind":"Pod",
"metadata":{"name":"@POD@","generateName":"virt-launcher-@VM@-",
 "namespace":"@NAMESPACE@","uid":"@UID@","resourceVersion":"@VERSION@",
 "generation":1,"creationTimestamp":"@CREATED@","labels":{"app":"@VM@",
 "kubevirt.io":"virt-launcher","kubevirt.io/created-by":"@VMI_UID@",
 "vm.kubevirt.io/name":"@VM@","vmi.kubevirt.io/id":"@VM@"},
 "annotations":{"descheduler.alpha.kubernetes.io/request-evict-only":"",
 "gpu.cozystack.io/claims":
 "[{\"template\":{\"className\":\"@CLASS@\",\"count\":@COUNT@}}]",
 "kubectl.kubernetes.io/default-container":"compute",
 "kubevirt.io/domain":"@VM@","kubevirt.io/memory-overhead-bytes":"1375731712",
 "kubevirt.io/migrationTransportUnix":"true",
 "kubevirt.io/pci-topology-version":"v3","kubevirt.io/vm-generation":"1",
 "post.hook.backup.velero.io/container":"compute",
 "pre.hook.backup.velero.io/container":"compute"},
 "ownerReferences":[{"apiVersion":"kubevirt.io/v1",
 "kind":"VirtualMachineInstance","name":"@VM@","uid":"@VMI_UID@",
 "controller":true,"blockOwnerDeletion":true}]},
"spec":{"volumes":[{"name":"private","emptyDir":{}},{"name":"public",
 "emptyDir":{}},{"name":"sockets","emptyDir":{}},{"name":"virt-bin-share-dir",
 "emptyDir":{}},{"name":"libvirt-runtime","emptyDir":{}},
 {"name":"ephemeral-disks","emptyDir":{}},{"name":"container-disks",
 "emptyDir":{}},{"name":"system","persistentVolumeClaim":{
 "claimName":"@VM@-system"}},{"name":"hotplug-disks","emptyDir":{}}],
 "initContainers":[{"name":"guest-console-log",
 "image":"quay.io/kubevirt/virt-launcher:v1.8.4","resources":{"limits":{
 "cpu":"15m","memory":"60M"},"requests":{"cpu":"5m","memory":"35M"}},
 "volumeMounts":[{"name":"private","readOnly":true,
 "mountPath":"/var/run/kubevirt-private"}],"restartPolicy":"Always",
 "terminationMessagePath":"/dev/termination-log",
 "terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent",
 "securityContext":{"capabilities":{"drop":["ALL"]},"runAsUser":107,
 "runAsNonRoot":true,"allowPrivilegeEscalation":false}}],
 "containers":[{"name":"compute",
 "image":"quay.io/kubevirt/virt-launcher:v1.8.4","resources":{"limits":{
 "devices.kubevirt.io/kvm":"1","devices.kubevirt.io/tun":"1",
 "devices.kubevirt.io/vhost-net":"1","@RESOURCE@":"@COUNT@"},"requests":{
 "cpu":"@CPU@m","devices.kubevirt.io/kvm":"1","devices.kubevirt.io/tun":"1",
 "devices.kubevirt.io/vhost-net":"1","ephemeral-storage":"50M",
 "memory":"@MEMORY@Mi","@RESOURCE@":"@COUNT@"}},"volumeMounts":[
 {"name":"private","mountPath":"/var/run/kubevirt-private"},{"name":"public",
 "mountPath":"/var/run/kubevirt"},{"name":"ephemeral-disks",
 "mountPath":"/var/run/kubevirt-ephemeral-disks"},{"name":"container-disks",
 "mountPath":"/var/run/kubevirt/container-disks",
 "mountPropagation":"HostToContainer"},{"name":"libvirt-runtime",
 "mountPath":"/var/run/libvirt"},{"name":"sockets",
 "mountPath":"/var/run/kubevirt/sockets"},{"name":"hotplug-disks",
 "mountPath":"/var/run/kubevirt/hotplug-disks",
 "mountPropagation":"HostToContainer"}],"volumeDevices":[{"name":"system",
 "devicePath":"/dev/system"}],"terminationMessagePath":"/dev/termination-log",
 "terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent",
 "securityContext":{"capabilities":{"add":["NET_BIND_SERVICE"],
 "drop":["ALL"]},"privileged":false,"runAsUser":107,"runAsNonRoot":true,
 "allowPrivilegeEscalation":false}}],"restartPolicy":"Never",
 "terminationGracePeriodSeconds":35,"dnsPolicy":"ClusterFirst",
 "nodeSelector":{"kubernetes.io/arch":"amd64","kubevirt.io/schedulable":"true",
 "machine-type.node.kubevirt.io/q35":"true"},"serviceAccountName":"default",
 "serviceAccount":"default","automountServiceAccountToken":false,@PLACE@
 "securityContext":{"runAsUser":107,"runAsGroup":107,"runAsNonRoot":true,
 "fsGroup":107},"hostname":"@VM@","schedulerName":"default-scheduler",
 "tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists",
 "effect":"NoExecute","tolerationSeconds":300},
 {"key":"node.kubernetes.io/unreachable","operator":"Exists",
 "effect":"NoExecute","tolerationSeconds":300}],"priority":0,
 "readinessGates":[{"conditionType":"kubevirt.io/virtual-machine-unpaused"}],
 "enableServiceLinks":false,"preemptionPolicy":"PreemptLowerPriority"},
"status":{@POD_STATUS@"qosClass":"Burstable"}})";

const char kVmiTemplate[] = R"({
"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",
"metadata":{"annotations":{"gpu.cozystack.io/claims":
 "[{\"template\":{\"className\":\"@CLASS@\",\"count\":@COUNT@}}]",
 "kubevirt.io/latest-observed-api-version":"v1",
 "kubevirt.io/storage-observed-api-version":"v1",
 "kubevirt.io/vm-generation":"1"},"creationTimestamp":"@CREATED@",
 "finalizers":["kubevirt.io/virtualMachineControllerFinalize",
 "kubevirt.io/foregroundDeleteVirtualMachine"],"generation":8,
 "labels":{"app":"@VM@"},"name":"@VM@","namespace":"@NAMESPACE@",
 "ownerReferences":[{"apiVersion":"kubevirt.io/v1","blockOwnerDeletion":true,
 "controller":true,"kind":"VirtualMachine","name":"@VM@",
 "uid":"@VM_UID@"}],"resourceVersion":"@VERSION@","uid":"@VMI_UID@"},
"spec":{"architecture":"amd64","domain":{"cpu":{"cores":@CORES@,
 "maxSockets":4,"model":"host-model","sockets":1,"threads":1},"devices":{
 "disks":[{"disk":{"bus":"virtio"},"name":"system"}],"gpus":[{
 "deviceName":"@RESOURCE@","name":"gpuclaim-0-0"}],"interfaces":[{
 "bridge":{},"model":"virtio","name":"default"}],"rng":{}},
 "features":{"acpi":{"enabled":true}},"firmware":{"uuid":"@UID@"},
 "machine":{"type":"q35"},"memory":{"guest":"@MEMORY@Mi",
 "maxGuest":"32Gi"},"resources":{"requests":{"memory":"@MEMORY@Mi"}}},
 "evictionStrategy":"LiveMigrate","networks":[{"name":"default","pod":{}}],
 "terminationGracePeriodSeconds":30,"volumes":[{"name":"system",
 "persistentVolumeClaim":{"claimName":"@VM@-system"}}]},
"status":{"activePods":{"@POD_UID@":"@NODE@"},"conditions":[{
 "lastProbeTime":"@CREATED@","lastTransitionTime":"@CREATED@",
 "message":"Guest VM is not reported as running","reason":"GuestNotRunning",
 "status":"@READY@","type":"Ready"},{"lastProbeTime":null,
 "lastTransitionTime":null,"status":"True","type":"LiveMigratable"},{
 "lastProbeTime":null,"lastTransitionTime":null,"status":"True",
 "type":"StorageLiveMigratable"}],"currentCPUTopology":{"cores":@CORES@,
 "sockets":1,"threads":1},"guestOSInfo":{},"interfaces":[{
 "infoSource":"domain","ipAddress":"@IP@","ipAddresses":["@IP@"],
 "mac":"02:00:00:@MAC@","name":"default","podInterfaceName":"eth0",
 "queueCount":1}],"launcherContainerImageVersion":
 "quay.io/kubevirt/virt-launcher:v1.8.4","memory":{
 "guestAtBoot":"@MEMORY@Mi","guestCurrent":"@MEMORY@Mi",
 "guestRequested":"@MEMORY@Mi"},"migrationMethod":"BlockMigration",
 "migrationTransport":"Unix","nodeName":"@NODE@","phase":"@VMI_PHASE@",
 "phaseTransitionTimestamps":[{"phase":"Pending",
 "phaseTransitionTimestamp":"@CREATED@"},{"phase":"Scheduling",
 "phaseTransitionTimestamp":"@CREATED@"},{"phase":"@VMI_PHASE@",
 "phaseTransitionTimestamp":"@NOW@"}],"qosClass":"Burstable",
 "runtimeUser":107,"selinuxContext":"none","virtualMachineRevisionName":
 "revision-start-vm-@VM_UID@-1","volumeStatus":[{"name":"system",
 "persistentVolumeClaimInfo":{"accessModes":["ReadWriteMany"],"capacity":{
 "storage":"20Gi"},"claimName":"@VM@-system","filesystemOverhead":"0",
 "requests":{"storage":"20Gi"},"volumeMode":"Block"},"target":"vda"}]}})";

const char kNodeTemplate[] = R"({
"apiVersion":"v1","kind":"Node",
"metadata":{"name":"@NODE@","uid":"@UID@","resourceVersion":"@VERSION@",
 "creationTimestamp":"@CREATED@","labels":{"beta.kubernetes.io/arch":"amd64",
 "beta.kubernetes.io/os":"linux","kubernetes.io/arch":"amd64",
 "kubernetes.io/hostname":"@NODE@","kubernetes.io/os":"linux",
 "kubevirt.io/schedulable":"true","machine-type.node.kubevirt.io/q35":"true",
 "cpu-feature.node.kubevirt.io/aes":"true",
 "cpu-feature.node.kubevirt.io/amx-bf16":"true",
 "cpu-feature.node.kubevirt.io/avx512f":"true",
 "cpu-feature.node.kubevirt.io/vmx-ept":"true",
 "cpu-model.node.kubevirt.io/Cascadelake-Server":"true",
 "cpu-model.node.kubevirt.io/Icelake-Server":"true",
 "cpu-model.node.kubevirt.io/SapphireRapids":"true",
 "cpu-vendor.node.kubevirt.io/Intel":"true",
 "host-model-cpu.node.kubevirt.io/SapphireRapids":"true",
 "scheduling.node.kubevirt.io/tsc-stable":"true",
 "topology.kubernetes.io/region":"@REGION@",
 "topology.kubernetes.io/zone":"@REGION@-a",
 "nvidia.com/gpu.present":"true"},"annotations":{
 "csi.volume.kubernetes.io/nodeid":"{\"linstor.csi.linbit.com\":\"@NODE@\"}",
 "kubevirt.io/heartbeat":"@NOW@","node.alpha.kubernetes.io/ttl":"0",
 "volumes.kubernetes.io/controller-managed-attach-detach":"true"}},
"spec":{"podCIDR":"10.244.@BYTE@.0/24","podCIDRs":["10.244.@BYTE@.0/24"]},
"status":{"capacity":{"cpu":"128","devices.kubevirt.io/kvm":"1k",
 "devices.kubevirt.io/tun":"1k","devices.kubevirt.io/vhost-net":"1k",
 "ephemeral-storage":"937053720Ki","hugepages-1Gi":"0","hugepages-2Mi":"0",
 "memory":"1056445@BYTE@Ki","@RESOURCE@":"8","pods":"250"},
 "allocatable":{"cpu":"127","devices.kubevirt.io/kvm":"1k",
 "devices.kubevirt.io/tun":"1k","devices.kubevirt.io/vhost-net":"1k",
 "ephemeral-storage":"863588707612","hugepages-1Gi":"0","hugepages-2Mi":"0",
 "memory":"1046445@BYTE@Ki","@RESOURCE@":"8","pods":"250"},
 "conditions":[{"type":"MemoryPressure","status":"False",
 "lastHeartbeatTime":"@NOW@","lastTransitionTime":"@CREATED@",
 "reason":"KubeletHasSufficientMemory",
 "message":"kubelet has sufficient memory available"},{"type":"DiskPressure",
 "status":"False","lastHeartbeatTime":"@NOW@",
 "lastTransitionTime":"@CREATED@","reason":"KubeletHasNoDiskPressure",
 "message":"kubelet has no disk pressure"},{"type":"PIDPressure",
 "status":"False","lastHeartbeatTime":"@NOW@",
 "lastTransitionTime":"@CREATED@","reason":"KubeletHasSufficientPID",
 "message":"kubelet has sufficient PID available"},{"type":"Ready",
 "status":"True","lastHeartbeatTime":"@NOW@",
 "lastTransitionTime":"@CREATED@","reason":"KubeletReady",
 "message":"kubelet is posting ready status"}],"addresses":[{
 "type":"InternalIP","address":"@IP@"},{"type":"Hostname",
 "address":"@NODE@"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},
 "nodeInfo":{"machineID":"@HEX@@HEX@","systemUUID":"@UID@","bootID":"@UID@",
 "kernelVersion":"6.12.40-talos","osImage":"Talos v1.11.3",
 "containerRuntimeVersion":"containerd://2.1.4","kubeletVersion":"v1.34.1",
 "kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"},
 "images":[{"names":["quay.io/kubevirt/virt-launcher@sha256:@HEX@@HEX@@HEX@",
 "quay.io/kubevirt/virt-launcher:v1.8.4"],"sizeBytes":2@BYTE@47118},{"names":[
 "ghcr.io/cozystack/cozystack/cilium@sha256:@HEX@@HEX@@HEX@"],
 "sizeBytes":1@BYTE@22340},{"names":[
 "nvcr.io/nvidia/kubevirt-gpu-device-plugin@sha256:@HEX@@HEX@@HEX@",
 "nvcr.io/nvidia/kubevirt-gpu-device-plugin:v1.4.0"],
 "sizeBytes":3@BYTE@1772}]}})";

std::string Packed(absl::string_view text) {
  std::string packed;
  bool at_line_start = false;
  for (const char c : text) {
    if (at_line_start && c == ' ') continue;
    at_line_start = c == '\n';
    if (!at_line_start) packed.push_back(c);
  }
  return packed;
}

}  // namespace gpubinder
