#!/usr/bin/env bash
# Sourced by the tests: a cluster of the test's own in $dir/cluster, which ends with it, as does the
# process $binder, whose log is $log. Wants KUBE_BIN (the control plane's binaries) and GPUBINDER.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kube=$here/../kube
dir=$(mktemp -d)
log=$dir/gpubinder.log
binder=

finish() {
  local status=$?
  [[ -z $binder ]] || kill "$binder" 2>/dev/null || true
  "$kube/cluster.sh" stop "$dir/cluster" >/dev/null 2>&1 || true
  if ((status != 0 && status != 77)) && [[ -f $log ]]; then
    echo "--- the binder's log ---"
    tail -n 40 "$log" || true
  fi
  rm -rf "$dir"
  exit "$status"
}
trap finish EXIT

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*"; }
fail() { say "FAILED: $*"; exit 1; }

# Runs a command until it succeeds, for a minute at most.
eventually() {
  local deadline=$((SECONDS + 60))
  until "$@"; do ((SECONDS < deadline)) || return 1; sleep 0.1; done
}

# Starts it with the options of cluster.sh, and points kubectl at it.
start_cluster() {
  "$kube/cluster.sh" start "$dir/cluster" "$@" >/dev/null
  eval "$("$kube/cluster.sh" env "$dir/cluster")"
}
