#!/usr/bin/env bash
# Measures kube-scheduler's throughput with and without Berth; see main.go. Builds the control plane, but not Berth.
#
#   bench/cluster/run.sh [--nodes 1000,5000] [--rounds 7] [--format table|json] ...
#   bench/cluster/run.sh --short     1,000 nodes and three rounds
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=$PATH:/usr/local/go/bin
if [[ ${1:-} == --short ]]; then set -- --nodes 1000 --rounds 3 "${@:2}"; fi
tests/cluster/build.sh
go build -buildvcs=false -o build/testcluster/bench ./bench/cluster
exec build/testcluster/bench "$@"
