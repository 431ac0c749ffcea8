#!/usr/bin/env bash
# Measures how much of their data jobs find on their nodes, with Berth and without; see main.go. Builds the control plane,
# but not Berth.
#
#   bench/locality/run.sh [--seed 1] [--jobs 150] [--wakes 24] [--format table|json]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=$PATH:/usr/local/go/bin
tests/cluster/build.sh
go build -buildvcs=false -o build/testcluster/bench-locality ./bench/locality
exec build/testcluster/bench-locality "$@"
