#!/usr/bin/env bash
# Branch coverage of reconciler/model by llvm-cov: runs the tests of it and of reconciler/naive, and
# prints the branches of each file and each one that did not run. Fails on one that is not in
# reconciler/model/uncovered_branches.txt.
#
#   tools/coverage.sh            what stands above
#   tools/coverage.sh --write    instead of it, missing entries in the form of that list
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly options=(--config=coverage_model)

targets() {
  bazel query 'kind(cc_test, //reconciler/model/... + //reconciler/naive/...)' 2>/dev/null
}

# Bazel links tests with shared libraries, and each of them writes a profile of its own (%m).
run_test() { # run_test BINARY
  local name=${1##*/}
  LLVM_PROFILE_FILE="$scratch/$name-%m.profraw" "$1" >"$scratch/log" 2>&1 </dev/null || {
    cat "$scratch/log" >&2
    printf 'coverage.sh: %s failed\n' "$name" >&2
    return 1
  }
}

main() {
  local bin target
  local -a wanted binaries=() libraries=() objects=()
  case "$*" in
    '' | --write) ;;
    *) echo "usage: tools/coverage.sh [--write]" >&2; exit 2 ;;
  esac
  tools/install_deps.sh
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mapfile -t wanted < <(targets)
  bazel build "${options[@]}" "${wanted[@]}" </dev/null >&2
  bin=$(bazel info "${options[@]}" bazel-bin 2>/dev/null)
  for target in "${wanted[@]}"; do
    target=${target#//}
    binaries+=("$bin/${target/://}")
  done
  # Enough for each kind of event; the whole of both is a test of its own.
  export SMALL_SCOPE_STATES=${SMALL_SCOPE_STATES:-5000} SMALL_SCOPE_CLUSTERS=101
  export LARGE_SCOPE_HISTORIES=${LARGE_SCOPE_HISTORIES:-40}
  for target in "${binaries[@]}"; do run_test "$target"; done
  mapfile -t libraries < <(ldd "${binaries[@]}" |
    sed -n 's/.* => \(.*reconciler_Smodel_S[^ ]*\.so\) .*/\1/p' | sort -u)
  for target in "${libraries[@]}"; do objects+=(-object "$target"); done
  llvm-profdata merge -sparse -o "$scratch/profile" "$scratch"/*.profraw
  llvm-cov export -format=text -instr-profile="$scratch/profile" "${objects[@]}" \
    >"$scratch/export.json"
  python3 tools/coverage_report.py "$scratch/export.json" \
    reconciler/model/uncovered_branches.txt "$@"
}

main "$@"
