#!/usr/bin/env bash
# What `gpubinder manifests` prints is taken by a real API server: whole, twice without a change,
# and taken back without anything that hangs. The binder has the rights that it needs under its own
# account, and no others; tenants have those of the roles that they get.
set -euo pipefail

# shellcheck source=tools/e2e/in_cluster.sh
source "$(dirname "$0")/in_cluster.sh"
h100=nvidia.com/GH100_H100_PCIE

# cert-manager's two kinds, which the server would not know.
install_cert_manager_kinds() {
  local kind
  for kind in Issuer Certificate; do
    kubectl apply -f - >/dev/null <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${kind,,}s.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: $kind, plural: ${kind,,}s, singular: ${kind,,}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
YAML
    kubectl wait --for=condition=Established "crd/${kind,,}s.cert-manager.io" >/dev/null
  done
}

# What the server has of the manifests, less what controllers write.
stored() {
  "$GPUBINDER" manifests | kubectl get -f - -o json |
    python3 -c '
import json, sys
for item in json.load(sys.stdin)["items"]:
    item.pop("status", None)
    item["metadata"].pop("resourceVersion")
    item["metadata"].pop("managedFields", None)
    print(json.dumps(item, sort_keys=True))'
}

# A SubjectAccessReview: user, verb, resource of our table, namespace or -.
review() {
  local name='' sub='' namespace=$4 resource=$3 group=''
  [[ $resource != *:* ]] || name=${resource#*:} resource=${resource%%:*}
  [[ $resource != */* ]] || sub=${resource#*/} resource=${resource%%/*}
  [[ $namespace != - ]] || namespace=
  case $resource in
    gpu*) group=gpu.cozystack.io ;;
    virtualmachine*) group=kubevirt.io ;;
    leases) group=coordination.k8s.io ;;
    validating* | mutating*) group=admissionregistration.k8s.io ;;
  esac
  cat <<YAML
---
apiVersion: authorization.k8s.io/v1
kind: SubjectAccessReview
spec:
  user: $1
  resourceAttributes:
    {verb: $2, group: "$group", resource: $resource, subresource: "$sub", name: "$name",
     namespace: "$namespace"}
YAML
}

# What `kubectl auth can-i` would say to each line of a table, in one call: yes or no, who, verbs,
# resources, the namespace or -. RESOURCE:NAME is one object, RESOURCE/status the subresource.
check_rights() {
  local want who verbs resources namespace user verb resource
  while read -r want who verbs resources namespace; do
    for user in ${who//,/ }; do
      for resource in ${resources//,/ }; do
        for verb in ${verbs//,/ }; do
          printf '%s %s %s %s %s\n' "$want" "$user" "$verb" "$resource" "$namespace" >&3
          review "${user/#binder/system:serviceaccount:cozy-system:gpubinder}" "$verb" \
            "$resource" "$namespace"
        done
      done
    done
  done 3>"$dir/wanted" |
    kubectl create -f - -o 'jsonpath={.status.allowed}{"\n"}' |
    sed 's/true/yes/; s/false/no/' >"$dir/found"
  cut -d ' ' -f 2- "$dir/wanted" | paste -d ' ' "$dir/found" - | diff "$dir/wanted" - ||
    fail "the rights wanted (<) are not those found (>)"
  say "$(wc -l <"$dir/found") rights asked for"
}

start_cluster
install_cert_manager_kinds
"$kube/kubevirt-crds.sh" "$dir/cluster" >/dev/null 2>&1
for namespace in cozy-system gpu-system tenant-a tenant-b; do
  kubectl create namespace "$namespace" >/dev/null
done

say "all of it is applied, and a second time nothing changes"
"$GPUBINDER" manifests | kubectl apply -f - >/dev/null
"$kube/cluster.sh" restart "$dir/cluster" kube-controller-manager >/dev/null
stored >"$dir/once"
"$GPUBINDER" manifests | kubectl apply -f - >/dev/null
stored >"$dir/twice"
diff "$dir/once" "$dir/twice" || fail "the second apply changes something"

say "the server takes the other forms too"
"$GPUBINDER" manifests | kubectl apply --dry-run=server -f - >/dev/null
"$GPUBINDER" manifests --self-signed --binder-namespace gpu-system --tenant-prefix customer- \
  --kubevirt-controller-user "o'brien" --raw-resource-names denied |
  kubectl apply --dry-run=server -f - >/dev/null

say "its pods pass the strictest of Kubernetes' own pod standards"
kubectl label namespace gpu-system pod-security.kubernetes.io/enforce=restricted >/dev/null
"$GPUBINDER" manifests deployment --binder-namespace gpu-system | kubectl apply -f - >/dev/null
kubectl create serviceaccount -n gpu-system gpubinder >/dev/null
has_pods() { kubectl get pod -n gpu-system gpubinder-0 gpubinder-1 >/dev/null 2>&1; }
eventually has_pods || fail "no pods: $(kubectl get events -n gpu-system)"

say "the policies' expressions fit the types of what they look at"
policies=validatingadmissionpolicies
are_checked() {
  ! kubectl get $policies -o 'jsonpath={range .items[*]}{.status.observedGeneration}{"\n"}{end}' |
    grep -qx ''
}
eventually are_checked || fail "not all policies were checked"
warnings=$(kubectl get $policies -o 'jsonpath={.items[*].status.typeChecking.expressionWarnings}')
[[ -z $warnings ]] || fail "$warnings"

say "binder and tenants may do what they need, and no more"
for role in view edit admin; do
  kubectl create rolebinding "$role" -n tenant-a "--clusterrole=$role" "--user=$role" >/dev/null
done
# The controller that adds up the roles comes a moment later.
may_claim() { kubectl auth can-i create gpuclaims -n tenant-a --as edit >/dev/null 2>&1; }
eventually may_claim || fail "the roles were never added up"
check_rights <<'EOT'
yes binder list,watch nodes,namespaces,persistentvolumes -
yes binder list,watch resourcequotas,persistentvolumeclaims tenant-a
yes binder get,list,watch,patch gpuclasses -
yes binder get,list,watch,create,patch,delete gpuclaims tenant-a
yes binder get,list,watch,create,patch gpuclaimsets tenant-a
yes binder patch gpuclasses/status -
yes binder patch gpuclaims/status,gpuclaimsets/status,virtualmachines/status tenant-a
yes binder get,list,watch,patch,delete pods tenant-a
yes binder get,list,watch virtualmachines,virtualmachineinstances tenant-a
yes binder delete virtualmachineinstances tenant-a
yes binder create events tenant-a
yes binder create leases,configmaps cozy-system
yes binder get,update leases:gpubinder.gpu.cozystack.io cozy-system
yes binder get,list,watch,patch configmaps:gpu-settings cozy-system
no binder update gpuclaims,pods,virtualmachines,virtualmachineinstances tenant-a
no binder delete gpuclaimsets,virtualmachines tenant-a
no binder create pods,virtualmachines,virtualmachineinstances tenant-a
no binder get secrets,configmaps,leases tenant-a
no binder get,list secrets,configmaps cozy-system
no binder patch configmaps:gpubinder-config cozy-system
no binder update leases:another cozy-system
no binder update,patch,delete nodes,namespaces -
no binder create,delete gpuclasses -
no binder delete,patch validatingadmissionpolicies,mutatingwebhookconfigurations -
yes view,edit,admin get,list,watch gpuclaims,gpuclaimsets tenant-a
yes edit,admin create,update,patch,delete,deletecollection gpuclaims tenant-a
no view create,update,patch,delete,deletecollection gpuclaims tenant-a
no view,edit,admin create,update,patch,delete,deletecollection gpuclaimsets tenant-a
no view,edit,admin get,update,patch gpuclaims/status,gpuclaimsets/status tenant-a
no view,edit,admin get,create gpuclaims tenant-b
no view,edit,admin create,update,patch,delete gpuclasses -
EOT

say "switched off, the binder lets go of everything, and all of it is taken back"
"$kube/cluster.sh" sa-kubeconfig "$dir/cluster" cozy-system gpubinder >"$dir/binder.kubeconfig"
"$kube/node.sh" "$dir/cluster" add gpu-1 "$h100=4" label:kubevirt.io/schedulable=true >/dev/null
run_binder() {
  "$GPUBINDER" run --journal "$dir/journal" --kubeconfig "$dir/binder.kubeconfig" \
    --grpc-address '' "$@" >>"$log" 2>&1 &
  binder=$!
}
stop_binder() {
  kill "$binder"
  wait "$binder" || fail "the binder did not end in order"
  binder=
}
has_finalizers() {
  kubectl get gpuclasses,gpuclaims -A -o 'jsonpath={.items[*].metadata.finalizers}' | grep -q gpu
}
kubectl apply -f - >/dev/null <<EOF
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClass
metadata: {name: h100}
spec: {resourceName: $h100}
---
apiVersion: gpu.cozystack.io/v1alpha1
kind: GPUClaim
metadata: {name: web-gpu, namespace: tenant-a}
spec: {className: h100}
EOF
run_binder
kubectl wait gpuclaim/web-gpu -n tenant-a '--for=jsonpath={.status.phase}=Bound' --timeout=60s \
  >/dev/null || fail "the claim was never bound"
has_finalizers || fail "a booked claim is not protected"
stop_binder
run_binder --enabled=false
has_none() { ! has_finalizers; }
eventually has_none || fail "finalizers are left"
stop_binder
grep -qi forbidden "$log" && fail "the binder was forbidden something"
"$GPUBINDER" manifests | timeout 120 kubectl delete -f - >/dev/null || fail "the delete hangs"
kinds=crds,clusterroles,clusterrolebindings,mutatingwebhookconfigurations
kinds+=,$policies,validatingadmissionpolicybindings
left=$(kubectl get $kinds -o name | grep gpu) && fail "left: $left"
kubectl delete namespace tenant-a cozy-system --timeout=120s >/dev/null || fail "a namespace hangs"
say "passed"
