#!/usr/bin/env bash
# Measures Berth as kube-scheduler sees it; bounds and figures are in docs/benchmarks.md.
#
#   bench/load/run.sh [--short] [--nodes 100,1000] [--only names,events] [--rounds 3] [--format table|json] [--out FILE]
#   bench/load/run.sh --help
#
# Uses the release build, or BERTH_BUILD, and brings it up to date. Ends only what it started.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${BERTH_BUILD:-build/release}
if [[ $build == build/release ]]; then scripts/build release bench_load bench_server >&2; fi
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
exec "$build/bench/load/bench_load" --commit "$commit" "$@"
