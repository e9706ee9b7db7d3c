#!/usr/bin/env bash
# Builds gpubinder and shows it at work: the manifests of tools/demo in a sandbox of its own, no
# cluster needed. Further arguments go to `gpubinder sandbox`.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/install_deps.sh
progress=()
[[ ! -t 2 ]] || progress=(--show_progress)
# The configuration of the tests, so that one build serves both.
bazel build //tools:gpubinder "${progress[@]}" </dev/null >&2
exec bazel-bin/tools/gpubinder sandbox --once -f tools/demo "$@"
