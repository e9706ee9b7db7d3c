#!/usr/bin/env bash
# Builds everything and runs all tests: the house style, the Bazel tests, and the tests against a
# real API server (tools/e2e/*_test.sh, see README.md). The last line counts the test cases.
#
#   tools/test.sh           all
#   tools/test.sh --fast    the house style and the quick unit tests
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
passed=0 failed=0 skipped=0

say() { printf '== %s\n' "$*"; }

count() { # count PASSED FAILED [SKIPPED]
  passed=$((passed + $1))
  failed=$((failed + $2))
  skipped=$((skipped + ${3:-0}))
}

# The house style: each rule is a case, and so is each test of a rule.
test_style() {
  local output
  say "house style"
  output=$(python3 tools/tidy/tidy_test.py 2>&1) || true
  printf '%s\n' "$output"
  if [[ $output =~ 'tidy: '([0-9]+)' passed, '([0-9]+)' failed'$ ]]; then
    count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
  else
    count 0 1
  fi
  python_tests tools/tidy/tidy_rules_test.py
  python_tests tools/count_tests_test.py
  python_tests tools/planted_test.py
  python_tests tools/coverage_report_test.py
}

# Runs a file of unittest cases.
python_tests() {
  local output total bad=0
  output=$(python3 "$1" 2>&1) || bad=1
  total=$(sed -n 's/^Ran \([0-9]*\) tests\? in .*/\1/p' <<<"$output")
  if [[ $bad == 1 || -z $total ]]; then
    printf '%s\n' "$output"
    bad=$(grep -cE '^(FAIL|ERROR): ' <<<"$output") || bad=1
    total=${total:-1}
  fi
  if ((bad > total)); then bad=$total; fi  # several subtests of one case
  count $((total - bad)) "$bad"
}

# Removes links that a Bazel with another output folder left: for this one they are packages.
remove_stale_links() {
  local base link
  base=$(bazel info output_base 2>/dev/null) || return 0
  for link in bazel-*; do
    if [[ -L $link && $(readlink "$link") != "$base"/* ]]; then rm "$link"; fi
  done
}

# Everything that Bazel builds and tests; the options after the first choose among the tests.
test_bazel() {
  local code=0
  local -a progress=()
  say "bazel test //..."
  [[ ! -t 2 ]] || progress=(--show_progress)
  remove_stale_links
  bazel test //... --keep_going "--build_event_json_file=$scratch/events.json" \
    "${progress[@]}" "$@" </dev/null || code=$?
  # 4: everything was built, and there was no test to run.
  if ((code == 4)); then code=0; fi
  # shellcheck disable=SC2046  # three numbers
  count $(python3 tools/count_tests.py "$scratch/events.json" "$code" || echo 0 1)
}

# Prints why there is no real control plane for the tests; fails when it should have been built.
build_control_plane() {
  local code=0
  tools/kube/build.sh "$KUBE_BIN" </dev/null 2>&1 | tee "$scratch/kube.log" >&2 || code=$?
  ((code == 0 || code == 77)) || return 1
  if ((code == 77)); then tail -n1 "$scratch/kube.log"; fi
}

# The tests against a real API server.
test_e2e() {
  local test reason code
  local -a tests=()
  for test in tools/e2e/*_test.sh; do
    if [[ -x $test ]]; then tests+=("$test"); fi
  done
  ((${#tests[@]})) || return 0
  say "a real API server"
  if ! reason=$(build_control_plane); then
    printf 'FAILED: tools/kube/build.sh, so %d tests did not run\n' "${#tests[@]}"
    count 0 "${#tests[@]}"
    return 0
  fi
  for test in "${tests[@]}"; do
    if [[ -n $reason ]]; then
      printf 'skipped: %s: %s\n' "$test" "$reason"
      count 0 0 1
      continue
    fi
    code=0
    timeout --kill-after=30 900 "$test" </dev/null >"$scratch/e2e.log" 2>&1 || code=$?
    case $code in
      0) printf 'passed: %s\n' "$test"; count 1 0 ;;
      77) printf 'skipped: %s: %s\n' "$test" "$(tail -n1 "$scratch/e2e.log")"; count 0 0 1 ;;
      *) cat "$scratch/e2e.log"; printf 'FAILED: %s (exit %d)\n' "$test" "$code"; count 0 1 ;;
    esac
  done
}

summary() {
  local line="$passed passed, $failed failed"
  if ((skipped)); then line+=", $skipped skipped"; fi
  printf '%s\n' "$line"
  ((failed == 0 && passed > 0))
}

main() {
  local fast=no
  case "$*" in
    '') ;;
    --fast) fast=yes ;;
    *) echo "usage: tools/test.sh [--fast]" >&2; exit 2 ;;
  esac
  tools/install_deps.sh
  export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
  export KUBE_BIN=${KUBE_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/gpubinder/kube}
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  test_style
  if [[ $fast == yes ]]; then
    test_bazel --build_tests_only --test_tag_filters=-slow,-large \
      --test_size_filters=small,medium
  else
    test_bazel
    GPUBINDER=$(bazel info bazel-bin 2>/dev/null)/tools/gpubinder
    export GPUBINDER
    test_e2e
  fi
  summary
}

main "$@"
