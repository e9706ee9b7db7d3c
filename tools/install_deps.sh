#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, where they are missing. Says nothing
# and takes no time when all are there.
set -euo pipefail

readonly packages=(
  # the build
  bazel-bootstrap bazel-rules-java bazel-rules-proto bazel-platforms bazel-skylib
  clang clang-format libclang-rt-14-dev lld llvm
  # libraries
  libabsl-dev libbenchmark-dev libboost-dev libboost-system-dev libcurl4-openssl-dev libgmock-dev
  libgrpc++-dev libgtest-dev libjemalloc-dev libprotobuf-dev librocksdb-dev libsimdjson-dev
  libspdlog-dev libssl-dev libyaml-cpp-dev libzstd-dev nlohmann-json3-dev protobuf-compiler
  protobuf-compiler-grpc zlib1g-dev
  # scripts
  ca-certificates curl git openssl python3
)

say() { printf 'install_deps.sh: %s\n' "$*" >&2; }

# Prints the packages that are not wholly installed.
missing() {
  local package
  local -A installed=()
  while read -r package; do
    installed[$package]=yes
  done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
    sed -n 's/^installed //p')
  for package in "${packages[@]}"; do
    [[ -n ${installed[$package]:-} ]] || printf '%s\n' "$package"
  done
  # Debian's conflicts with a package of the name kubectl, so any kubectl will do.
  command -v kubectl >/dev/null || printf 'kubernetes-client\n'
}

main() {
  local -a wanted as_root=()
  command -v dpkg-query >/dev/null || {
    say "not a Debian system; install what these packages of Debian 12 bring: ${packages[*]}"
    exit 1
  }
  mapfile -t wanted < <(missing)
  ((${#wanted[@]})) || return 0
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      say "packages are missing, and this user may not install them; as root run:"
      say "  apt-get install --no-install-recommends ${wanted[*]}"
      exit 1
    fi
    as_root=(sudo -n)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600
    -o Acquire::Retries=3)
  say "installing ${wanted[*]}"
  "${as_root[@]}" update >&2 </dev/null
  # An installation that was cut short leaves packages half set up, Bazel's among them.
  "${as_root[@]}" -f install >&2 </dev/null
  "${as_root[@]}" --no-install-recommends install "${wanted[@]}" >&2 </dev/null
}

main
