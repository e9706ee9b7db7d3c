#!/usr/bin/env bash
# The same flow as real_apiserver_test.sh, with KubeVirt's whole schemas instead of our small ones:
# what the binder reads and writes is legal there too. Wants KUBEVIRT_CRDS, a file of those CRDs.
set -euo pipefail

if [[ -z ${KUBEVIRT_CRDS:-} ]]; then
  echo "KUBEVIRT_CRDS names no file of KubeVirt's CRDs"
  exit 77
fi
exec "$(dirname "$0")/real_apiserver_test.sh" --kubevirt-crds "$KUBEVIRT_CRDS"
