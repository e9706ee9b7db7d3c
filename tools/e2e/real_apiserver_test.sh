#!/usr/bin/env bash
# The binder against a real Kubernetes control plane: claims are bound and
# launcher pods pinned in one update, the real scheduler binds them, a pod too
# big for its node is refused, deleted, and its successor goes elsewhere.
#
# The test plays KubeVirt's virt-controller: it makes VMs, VMIs and gated
# launcher pods in KubeVirt's shape and lists the pods in status.activePods.
# Wants KUBE_BIN (the control plane's binaries) and GPUBINDER (our binary).
set -euo pipefail

# Our small CRDs for KubeVirt's kinds, unless told otherwise.
unset KUBEVIRT_CRDS
if [[ ${1:-} == --kubevirt-crds ]]; then export KUBEVIRT_CRDS=$2; fi

# shellcheck source=tools/e2e/in_cluster.sh
source "$(dirname "$0")/in_cluster.sh"
h100=nvidia.com/GH100_H100_PCIE

exists() { kubectl get "$1" -n tenant-a >/dev/null 2>&1; }

# Waits for a value that kubectl can read: what, path, value. What the binder
# makes may not be there yet, which kubectl would not wait for.
await() {
  eventually exists "$1" || fail "$1 was never made"
  kubectl wait "$1" -n tenant-a "--for=jsonpath=$2=$3" --timeout=60s \
    >/dev/null ||
    fail "$1 never had $2 = $3; it is: $(kubectl get "$1" -n tenant-a -o yaml)"
}

# How often the Warning NoNodeFits was given.
warnings() {
  kubectl get events -n tenant-a -o name \
    --field-selector type=Warning,reason=NoNodeFits | wc -l
}

was_warned() { (($(warnings) > 0)); }

# A VM of run strategy Always that names claims.
make_vm() {  # name, claims annotation
  kubectl apply -f - >/dev/null <<EOF
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: $1, namespace: tenant-a}
spec:
  runStrategy: Always
  template:
    metadata: {annotations: {gpu.cozystack.io/claims: '$2'}}
    spec: {domain: {devices: {}}}
EOF
}

# A VMI of the VM and its gated launcher, listed in the VMI's activePods.
start_vmi() {  # name, claims annotation, pod, units, cpu
  local vm vmi pod
  vm=$(kubectl get vm -n tenant-a "$1" -o 'jsonpath={.metadata.uid}')
  kubectl create -f - >/dev/null <<EOF
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: $1
  namespace: tenant-a
  annotations: {gpu.cozystack.io/claims: '$2'}
  ownerReferences:
  - {apiVersion: kubevirt.io/v1, kind: VirtualMachine, name: $1, uid: $vm, controller: true}
spec: {domain: {devices: {}}}
status: {phase: Pending}
EOF
  vmi=$(kubectl get vmi -n tenant-a "$1" -o 'jsonpath={.metadata.uid}')
  kubectl create -f - >/dev/null <<EOF
apiVersion: v1
kind: Pod
metadata:
  name: $3
  namespace: tenant-a
  labels: {kubevirt.io: virt-launcher, kubevirt.io/created-by: $vmi, vm.kubevirt.io/name: $1}
  annotations: {gpu.cozystack.io/claims: '$2'}
  ownerReferences:
  - apiVersion: kubevirt.io/v1
    kind: VirtualMachineInstance
    name: $1
    uid: $vmi
    controller: true
spec:
  schedulingGates: [{name: gpu.cozystack.io/claims}]
  nodeSelector: {kubevirt.io/schedulable: "true"}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: node-labeller.kubevirt.io/obsolete-host-model, operator: DoesNotExist}
  containers:
  - name: compute
    image: example.org/virt-launcher:none
    resources:
      requests: {cpu: "$5", $h100: "$4"}
      limits: {$h100: "$4"}
EOF
  pod=$(kubectl get pod -n tenant-a "$3" -o 'jsonpath={.metadata.uid}')
  kubectl patch vmi -n tenant-a "$1" --type=merge -p \
    "{\"status\":{\"phase\":\"Scheduling\",\"activePods\":{\"$pod\":\"\"}}}" \
    >/dev/null
}

start_cluster --audit
kubectl create namespace cozy-system >/dev/null
"$GPUBINDER" manifests crds rbac policies | kubectl apply -f - >/dev/null
"$kube/kubevirt-crds.sh" "$dir/cluster" >/dev/null
# A restarted controller manager knows the new kinds at once.
"$kube/cluster.sh" restart "$dir/cluster" kube-controller-manager >/dev/null
for node in gpu-1 gpu-2; do
  "$kube/node.sh" "$dir/cluster" add "$node" "$h100=4" cpu=8 \
    label:kubevirt.io/schedulable=true >/dev/null
done
kubectl create namespace tenant-a >/dev/null
kubectl apply -f - >/dev/null <<EOF
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClass
metadata: {name: h100}
spec: {resourceName: $h100}
EOF

# With the rights of its own account, and under the policies.
"$kube/cluster.sh" sa-kubeconfig "$dir/cluster" cozy-system gpubinder >"$dir/binder.kubeconfig"
"$GPUBINDER" run --journal "$dir/journal" --kubeconfig "$dir/binder.kubeconfig" \
  --refusal-grace 1s --grpc-address 127.0.0.1:0 >"$log" 2>&1 &
binder=$!

say "a claim is bound, and its VM's launcher is pinned and ungated in one update"
kubectl apply -f - >/dev/null <<EOF
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClaim
metadata: {name: web-gpu, namespace: tenant-a}
spec: {className: h100}
EOF
await gpuclaim/web-gpu '{.status.phase}' Bound
web='[{"claimName": "web-gpu"}]'
make_vm web "$web"
start_vmi web "$web" launcher-web 1 100m
await pod/launcher-web '{.spec.nodeName}' gpu-1
await gpuclaim/web-gpu '{.status.nodeName}' gpu-1
await gpuclaimset/web '{.status.reason}' Placed
ungating=$(grep '"verb":"patch"' "$dir/cluster/log/audit-0.log" |
  grep '"name":"launcher-web"' | grep '"stage":"ResponseComplete"' |
  grep -c 'schedulingGates')
[[ $ungating == 1 ]] || fail "the launcher was patched $ungating times, not once"

say "template claims are made, bound and pinned"
train='[{"claimTemplate": {"className": "h100", "count": 2}}]'
make_vm train "$train"
start_vmi train "$train" launcher-train 2 100m
await pod/launcher-train '{.spec.nodeName}' gpu-1

say "a pod too big for its node is refused, deleted, and goes elsewhere"
# gpu-1 is the fuller one (1 unit left) and has 8 cpu, most of them in use.
kubectl create -f - >/dev/null <<EOF
apiVersion: v1
kind: Pod
metadata: {name: hog, namespace: tenant-a}
spec:
  nodeSelector: {kubernetes.io/hostname: gpu-1}
  containers:
  - {name: hog, image: example.org/hog:none, resources: {requests: {cpu: "6"}}}
EOF
await pod/hog '{.spec.nodeName}' gpu-1
big='[{"claimTemplate": {"className": "h100"}}]'
make_vm big "$big"
start_vmi big "$big" launcher-big-1 1 4
kubectl wait pod/launcher-big-1 -n tenant-a --for=delete --timeout=60s \
  >/dev/null || fail "the refused launcher was not deleted"
await gpuclaimset/big '{.status.rejectedNodes[*].nodeName}' gpu-1
# What virt-controller does with a VMI whose launcher has gone.
kubectl patch vmi -n tenant-a big --type=merge \
  -p '{"status":{"phase":"Failed","activePods":{}}}' >/dev/null
kubectl delete vmi -n tenant-a big >/dev/null
start_vmi big "$big" launcher-big-2 1 4
await pod/launcher-big-2 '{.spec.nodeName}' gpu-2

say "the set that fits nowhere waits, and says why"
huge='[{"claimTemplate": {"className": "h100", "count": 8}}]'
make_vm huge "$huge"
start_vmi huge "$huge" launcher-huge 8 100m
await gpuclaimset/huge '{.status.reason}' NoNodeFits
# The Warning is a write of its own, after that of the set.
eventually was_warned || fail "no Warning was given"
grpc=$(sed -n 's/.*answering on \([0-9.:]*\).*/\1/p' "$log" | head -n 1)
# Exit code 1: it waits.
why=$("$GPUBINDER" explain --address "$grpc" tenant-a/huge) && fail "it does not wait"
[[ $why == *"gpu-2: InsufficientUnits $h100 needs 8, free 3"* ]] ||
  fail "explain does not say what gpu-2 lacks: $why"

say "its passes run again from the journal, byte for byte"
kill "$binder"
wait "$binder" || fail "the binder did not end in order"
binder=
[[ $(warnings) == 1 ]] || fail "$(warnings) Warnings were given, not one"
"$GPUBINDER" replay "$dir/journal"
forbidden=$(grep '"code":403' "$dir/cluster/log/audit-0.log" | grep -F cozy-system:gpubinder) &&
  fail "the binder was forbidden: $forbidden"
grep -i forbidden "$log" && fail "the binder was forbidden something"
say "passed"
