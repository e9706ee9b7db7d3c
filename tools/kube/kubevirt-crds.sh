#!/usr/bin/env bash
# Installs KubeVirt's kinds into the cluster of cluster.sh in DIR, and waits until they are served:
# the project's own small ones, or those in the file that KUBEVIRT_CRDS names. See README.md.
set -euo pipefail

(($# == 1)) || { echo "usage: kubevirt-crds.sh DIR" >&2; exit 2; }
kubectl=("$(<"$1/run/bin")/kubectl" --kubeconfig "$1/admin.kubeconfig")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
crds=${KUBEVIRT_CRDS:-$root/k8s/manifests/testing/kubevirt-crds.yaml}
[[ -f $crds ]] || { echo "kube/kubevirt-crds.sh: no such file: $crds" >&2; exit 1; }

"${kubectl[@]}" apply --server-side --force-conflicts -f "$crds" >&2
"${kubectl[@]}" wait --for=condition=Established --timeout=60s -f "$crds" >&2
