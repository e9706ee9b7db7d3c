#!/usr/bin/env bash
# What the admission policies refuse on a real API server, each beside a write like it that they
# let through. The tenant here may write everything in its namespace as far as RBAC goes, status and
# sets too: what is refused, a policy refuses.
set -euo pipefail

# shellcheck source=tools/e2e/in_cluster.sh
source "$(dirname "$0")/in_cluster.sh"
h100=nvidia.com/GH100_H100_PCIE
tenant=(--as tenant -n tenant-a)
kubevirt=(--as system:serviceaccount:cozy-kubevirt:kubevirt-controller -n tenant-a)
binder=(--as system:serviceaccount:cozy-system:gpubinder -n tenant-a)
template=gpu.cozystack.io/template-claim
claims='gpu.cozystack.io/claims: "[{\"claimName\": \"web-gpu\"}]"'

# allowed WHAT ARGUMENT...: kubectl succeeds; nothing is stored.
allowed() {
  kubectl "${@:2}" --dry-run=server >/dev/null 2>"$dir/said" || fail "$1: $(<"$dir/said")"
}

# refused POLICY WHAT ARGUMENT...: this policy says no, and not because its expression failed. A
# policy comes into effect a moment after it was written.
refused() {
  is_refused() { ! kubectl "${@:3}" --dry-run=server >/dev/null 2>"$dir/said"; }
  eventually is_refused "$@" || fail "$2: not refused"
  grep -q "ValidatingAdmissionPolicy 'gpubinder-$1' with binding .* denied request: [a-z]" \
    "$dir/said" || fail "$2: refused otherwise: $(<"$dir/said")"
  ! grep -q 'resulted in error\|failed expression' "$dir/said" || fail "$2: $(<"$dir/said")"
}

# The file $dir/object, for -f.
object() { cat >"$dir/object"; }

claim() {  # name, metadata
  object <<YAML
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClaim
metadata: {name: $1, $2}
spec: {className: h100}
YAML
}

machine() {  # VirtualMachine or VirtualMachineInstance, name, metadata, domain
  local spec="{domain: {$4}}"
  [[ $1 == VirtualMachineInstance ]] || spec="{runStrategy: Halted, template: {spec: $spec}}"
  object <<YAML
apiVersion: kubevirt.io/v1
kind: $1
metadata: {name: $2, $3}
spec: $spec
YAML
}

pod() {  # name, metadata, spec, resources
  object <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, $2}
spec:
  ${3:-}
  containers: [{name: compute, image: example.org/none, resources: {${4:-}}}]
YAML
}

gpus() { printf 'devices: {gpus: [{name: "%s", deviceName: "%s"}]}' "$1" "$2"; }

settings() {  # allowed or denied
  kubectl "${binder[@]}" apply -n cozy-system -f - >/dev/null <<YAML
apiVersion: v1
kind: ConfigMap
metadata: {name: gpu-settings}
data: {resourceNames: "$h100,nvidia.com/NVIDIA_L40S-24C", rawResourceNames: "$1"}
YAML
}

start_cluster
"$kube/kubevirt-crds.sh" "$dir/cluster" >/dev/null 2>&1
for namespace in cozy-system tenant-a lab; do kubectl create namespace "$namespace" >/dev/null; done
"$GPUBINDER" manifests crds rbac policies | kubectl apply -f - >/dev/null
kubectl create clusterrole everything --verb='*' --resource='*.*' >/dev/null
kubectl create rolebinding everything -n tenant-a --clusterrole=everything --user=tenant \
  --serviceaccount=cozy-kubevirt:kubevirt-controller \
  --serviceaccount=cozy-system:gpubinder >/dev/null
kubectl create rolebinding everything -n lab --clusterrole=everything --user=tenant >/dev/null
kubectl create clusterrole namespaces --verb=create,patch --resource=namespaces >/dev/null
kubectl create clusterrolebinding namespaces --clusterrole=namespaces --user=tenant >/dev/null
kubectl create -f - >/dev/null <<YAML
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClass
metadata: {name: h100}
spec: {resourceName: $h100}
YAML
claim web-gpu 'namespace: tenant-a, finalizers: [gpu.cozystack.io/claim-protection]'
kubectl create -f "$dir/object" >/dev/null
machine VirtualMachineInstance web "namespace: tenant-a, annotations: {$claims}" 'devices: {}'
kubectl create -f "$dir/object" >/dev/null
uid=$(kubectl get vmi -n tenant-a web -o 'jsonpath={.metadata.uid}')
owner="{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, name: web, uid: $uid}"
claim web-0 "namespace: tenant-a, labels: {$template: web, a: b}, ownerReferences: [$owner]"
kubectl create -f "$dir/object" >/dev/null
kubectl create -f - >/dev/null <<YAML
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClaimSet
metadata: {name: web, namespace: tenant-a}
spec: {claims: [web-gpu, web-0]}
YAML
pod gated 'namespace: tenant-a' 'schedulingGates: [{name: gpu.cozystack.io/claims}, {name: x/y}]'
eventually kubectl create -f "$dir/object" >/dev/null 2>&1 || fail "no gated pod"
merge=(--type=merge -p)

say "our labels and finalizers"
claim new "labels: {$template: web}"
refused marks "a claim with our label" create "${tenant[@]}" -f "$dir/object"
allowed "the binder's" create "${binder[@]}" -f "$dir/object"
claim new 'labels: {team: a}, finalizers: [example.org/mine]'
allowed "a claim with a label" create "${tenant[@]}" -f "$dir/object"
claim new 'finalizers: [gpu.cozystack.io/claim-protection]'
refused marks "a claim with our finalizer" create "${tenant[@]}" -f "$dir/object"
edit=(patch gpuclaim web-gpu)
refused marks "our finalizer taken off" "${edit[@]}" "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"finalizers": null}}'
refused marks "our label put on" "${edit[@]}" "${tenant[@]}" "${merge[@]}" \
  "{\"metadata\": {\"labels\": {\"$template\": \"web\"}}}"
allowed "a label put on" "${edit[@]}" "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"labels": {"team": "a"}}}'
allowed "an operator's" "${edit[@]}" -n tenant-a "${merge[@]}" '{"metadata": {"finalizers": null}}'
refused marks "a namespace entitled" label namespace tenant-a gpu.cozystack.io/vgpu=true --as tenant
allowed "a namespace labelled" label namespace tenant-a team=a --as tenant
allowed "an operator's" label namespace tenant-a gpu.cozystack.io/vgpu=true

say "claims made from a template"
edit=(patch gpuclaim web-0)
refused template-claims "another owner" "${edit[@]}" "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"ownerReferences": null}}'
refused template-claims "a label gone" "${edit[@]}" "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"labels": {"a": null}}}'
refused '\(marks\|template-claims\)' "our label gone" "${edit[@]}" "${tenant[@]}" "${merge[@]}" \
  "{\"metadata\": {\"labels\": {\"$template\": null}}}"
allowed "an annotation" "${edit[@]}" "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"annotations": {"a": "b"}}}'
allowed "its end" delete gpuclaim web-0 "${tenant[@]}"
allowed "another owner of another claim" patch gpuclaim web-gpu "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"ownerReferences":
    [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}]}}'

say "placements"
edit=(patch gpuclaim web-gpu --subresource=status)
bound='{"status": {"phase": "Bound", "nodeName": "a"}}'
refused placements "a claim's status" "${edit[@]}" "${tenant[@]}" "${merge[@]}" "$bound"
allowed "the binder's" "${edit[@]}" "${binder[@]}" "${merge[@]}" "$bound"
refused placements "a set's status" patch gpuclaimset web --subresource=status "${tenant[@]}" \
  "${merge[@]}" '{"status": {"nodeName": "a"}}'
refused placements "a set" patch gpuclaimset web "${tenant[@]}" "${merge[@]}" \
  '{"spec": {"claims": []}}'
refused placements "a set's end" delete gpuclaimset web "${tenant[@]}"
allowed "the binder's" patch gpuclaimset web "${binder[@]}" "${merge[@]}" '{"spec": {"claims": []}}'

say "specs that are immutable"
kubectl patch gpuclaim web-gpu "${tenant[@]}" "${merge[@]}" '{"spec": {"count": 2}}' \
  >/dev/null 2>"$dir/said" && fail "a claim's count was changed"
grep -q 'count is immutable' "$dir/said" || fail "$(<"$dir/said")"
kubectl patch gpuclass h100 "${merge[@]}" '{"spec": {"resourceName": "a.b/c"}}' \
  >/dev/null 2>"$dir/said" && fail "a class's resource was changed"
grep -q 'resourceName is immutable' "$dir/said" || fail "$(<"$dir/said")"
allowed "a class's maximum" patch gpuclass h100 "${merge[@]}" '{"spec": {"maxCount": 4}}'

say "the scheduling gate"
pod new '' 'schedulingGates: [{name: gpu.cozystack.io/claims}]'
refused gate "a tenant's pod with our gate" create "${tenant[@]}" -f "$dir/object"
allowed "KubeVirt's" create "${kubevirt[@]}" -f "$dir/object"
pod new '' 'schedulingGates: [{name: x/y}]'
allowed "another gate" create "${tenant[@]}" -f "$dir/object"
ungate='{"spec": {"schedulingGates": [{"name": "x/y"}]}}'
refused gate "our gate taken off" patch pod gated "${tenant[@]}" "${merge[@]}" "$ungate"
refused gate "by KubeVirt" patch pod gated "${kubevirt[@]}" "${merge[@]}" "$ungate"
allowed "by the binder" patch pod gated "${binder[@]}" "${merge[@]}" "$ungate"
allowed "the other gate taken off" patch pod gated "${tenant[@]}" "${merge[@]}" \
  '{"spec": {"schedulingGates": [{"name": "gpu.cozystack.io/claims"}]}}'
allowed "a label" patch pod gated "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"labels": {"a": "b"}}}'

say "the claims annotation of a VMI that exists"
for value in null '"[]"'; do
  refused claims-annotation "it changes" patch vmi web "${tenant[@]}" "${merge[@]}" \
    "{\"metadata\": {\"annotations\": {\"gpu.cozystack.io/claims\": $value}}}"
done
allowed "another annotation" patch vmi web "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"annotations": {"a": "b"}}}'

say "names of devices in VMs that are the webhook's"
machine VirtualMachine vm '' "$(gpus gpuclaim-0-0 "$h100")"
refused device-names "our prefix" create "${tenant[@]}" -f "$dir/object"
refused device-names "whoever writes it" create -n tenant-a -f "$dir/object"
machine VirtualMachine vm '' "devices: {hostDevices: [{name: gpuclaim-x, deviceName: a.b/c}]}"
refused device-names "in hostDevices" create "${tenant[@]}" -f "$dir/object"
machine VirtualMachine vm '' "$(gpus gpu1 "$h100")"
allowed "another name" create "${tenant[@]}" -f "$dir/object"

say "GPU resources by their own names"
settings allowed
machine VirtualMachine raw 'namespace: tenant-a' "$(gpus gpu1 "$h100")"
kubectl create -f "$dir/object" >/dev/null
raw=raw-names-in-vms
settings denied
machine VirtualMachine vm '' "$(gpus gpu1 "$h100")"
refused $raw "a VM's gpus" create "${tenant[@]}" -f "$dir/object"
refused $raw "whoever writes it" create -n tenant-a -f "$dir/object"
allowed "in no tenant's namespace" create --as tenant -n lab -f "$dir/object"
machine VirtualMachine vm '' "devices: {hostDevices: [{name: a, deviceName: $h100}]}"
refused $raw "a VM's hostDevices" create "${tenant[@]}" -f "$dir/object"
for list in requests limits; do
  machine VirtualMachine vm '' "devices: {}, resources: {$list: {$h100: \"0\"}}"
  refused $raw "a VM's $list" create "${tenant[@]}" -f "$dir/object"
done
machine VirtualMachine vm '' "$(gpus gpu1 nvidia.com/OTHER), resources: {requests: {memory: 1Gi}}"
allowed "other resources" create "${tenant[@]}" -f "$dir/object"
devices='{"spec": {"template": {"spec": {"domain": {"devices": {"gpus": '
refused $raw "one more in a VM" patch vm raw "${tenant[@]}" "${merge[@]}" \
  "$devices [{\"name\": \"gpu1\", \"deviceName\": \"$h100\"},
    {\"name\": \"gpu2\", \"deviceName\": \"$h100\"}]}}}}}}"
allowed "none in a VM" patch vm raw "${tenant[@]}" "${merge[@]}" "$devices []}}}}}}"
allowed "a VM that keeps its own" patch vm raw "${tenant[@]}" "${merge[@]}" \
  '{"metadata": {"finalizers": ["a.b/c"]}, "spec": {"runStrategy": "Always"}}'
raw=raw-names-in-vmis
machine VirtualMachineInstance new '' "$(gpus gpu1 "$h100")"
refused $raw "a VMI's gpus" create "${kubevirt[@]}" -f "$dir/object"
machine VirtualMachineInstance new '' "$(gpus gpuclaim-0-0 "$h100")"
refused $raw "our name without claims" create "${kubevirt[@]}" -f "$dir/object"
machine VirtualMachineInstance new "annotations: {$claims}" "$(gpus gpuclaim-0-0 "$h100")"
allowed "our entries" create "${kubevirt[@]}" -f "$dir/object"
machine VirtualMachineInstance new "annotations: {$claims}" "$(gpus gpu1 "$h100")"
refused $raw "beside claims" create "${kubevirt[@]}" -f "$dir/object"
raw=raw-names-in-pods
units="limits: {$h100: 1}"
pod new '' '' "$units"
refused $raw "a pod" create "${tenant[@]}" -f "$dir/object"
refused $raw "a launcher without claims" create "${kubevirt[@]}" -f "$dir/object"
allowed "in no tenant's namespace" create --as tenant -n lab -f "$dir/object"
pod new "annotations: {$claims}" '' "$units"
refused $raw "a pod that claims it is a launcher" create "${tenant[@]}" -f "$dir/object"
allowed "a launcher with claims" create "${kubevirt[@]}" -f "$dir/object"
pod new '' "initContainers: [{name: i, image: example.org/none, resources: {$units}}]" ''
refused $raw "an init container" create "${tenant[@]}" -f "$dir/object"
pod new '' '' 'limits: {nvidia.com/OTHER: 1}'
allowed "other resources" create "${tenant[@]}" -f "$dir/object"
kubectl delete configmap -n cozy-system gpu-settings >/dev/null
pod new '' '' "$units"
allowed "without settings" create "${tenant[@]}" -f "$dir/object"

say "what owns and ends objects is not held up"
kubectl patch gpuclaim web-gpu -n tenant-a "${merge[@]}" '{"metadata": {"finalizers": null}}' \
  >/dev/null
kubectl delete namespace tenant-a --timeout=120s >/dev/null || fail "the namespace hangs"
say "passed"
