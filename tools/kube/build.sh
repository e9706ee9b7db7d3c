#!/usr/bin/env bash
# Builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl from the Go
# modules that go.mod pins, into OUTDIR. Does nothing when OUTDIR already holds exactly these
# builds. Exits with 77 where it cannot build: no Go, Go too old, or modules not to be had.
set -euo pipefail

readonly packages=(
  k8s.io/kubernetes/cmd/kube-apiserver
  k8s.io/kubernetes/cmd/kube-controller-manager
  k8s.io/kubernetes/cmd/kube-scheduler
  k8s.io/kubernetes/cmd/kubectl
  go.etcd.io/etcd/server/v3
)
readonly binaries=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)

say() { printf 'kube/build.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
cannot() { say "$*"; exit 77; }

# Ends unless `go` is there and at least as new as go.mod asks.
require_go() {
  local want have
  want=$(awk '$1 == "go" {print $2}' go.mod)
  command -v go >/dev/null || cannot "Go is not installed: Go $want or newer is needed"
  have=$(go env GOVERSION)
  have=${have#go}
  have=${have%%[!0-9.]*}
  [[ $(printf '%s\n' "$want" "$have" | sort -V | head -n1) == "$want" ]] ||
    cannot "Go $have is too old: Go $want or newer is needed"
}

# Ends unless every module that the packages need is in the module cache or can be fetched.
require_modules() {
  local message
  say "looking for the modules (0.6 GB to fetch when there are none)"
  message=$(go list -deps "${packages[@]}" 2>&1 >/dev/null) ||
    cannot "modules are not to be had: $(grep -v '^go: downloading' <<<"$message" | head -n1)"
}

# Linker flags that make every binary report the Kubernetes version $1 (vMAJOR.MINOR.PATCH).
version_flags() {
  local package major minor rest
  IFS=. read -r major minor rest <<<"${1#v}"
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- '-X %s=%s ' "$package.gitVersion" "$1" "$package.gitMajor" "$major" \
      "$package.gitMinor" "$minor" "$package.gitTreeState" clean "$package.gitCommit" "go-module-$1"
  done
}

# What an up-to-date OUTDIR was built from.
stamp() {
  cat go.mod go.sum build.sh | sha256sum
  go env GOVERSION GOOS GOARCH
}

# Reads `go build -v` and prints a line for every hundred packages, and everything that is not a
# package.
progress() {
  awk '/^[^ #:]+$/ {
         if (++n % 100 == 0) { print "kube/build.sh: " n " packages compiled"; fflush() }
         next
       }
       { print; fflush() }' >&2
}

build() {
  local out=$1 version staging binary
  version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
  staging=$(mktemp -d "$out/.build.XXXXXX")
  # shellcheck disable=SC2064  # expand now: the variable is gone when the trap runs
  trap "rm -rf '$staging'" EXIT

  say "building Kubernetes $version with $(go env GOVERSION)" \
    "(about 4 minutes on 2 cores with empty caches)"
  # No debug data and a lazy garbage collector in the compiler: 3:41 instead of 4:08, and 2.6 G of
  # cache, not 3.0.
  CGO_ENABLED=0 GOGC=${GOGC:-400} go build -v -trimpath -gcflags=all=-dwarf=0 \
    -ldflags "-s -w $(version_flags "$version")" -o "$staging/" "${packages[@]}" 2>&1 | progress
  mv "$staging/server" "$staging/etcd"
  for binary in "${binaries[@]}"; do mv -f "$staging/$binary" "$out/$binary"; done
  say "done: $(du -sh "$out" | cut -f1) in ${SECONDS} s"
}

main() {
  (($# <= 1)) && [[ ${1:-} != -* ]] || die "usage: build.sh [OUTDIR]"
  local out wanted binary fresh=yes
  out=${1:-${KUBE_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/gpubinder/kube}}
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  cd "$(dirname "${BASH_SOURCE[0]}")"
  export GOFLAGS='-mod=readonly -buildvcs=false' GOWORK=off GOTOOLCHAIN=local
  require_go

  exec 9>"$out/.lock"
  flock 9  # a second build of the same folder waits, then finds the work done
  wanted=$(stamp)
  for binary in "${binaries[@]}"; do [[ -x $out/$binary ]] || fresh=no; done
  if [[ $fresh == yes && -f $out/.stamp && $(<"$out/.stamp") == "$wanted" ]]; then
    say "up to date: $out"
    return
  fi
  require_modules
  rm -f "$out/.stamp"
  build "$out"
  printf '%s\n' "$wanted" >"$out/.stamp"
}

main "$@"
