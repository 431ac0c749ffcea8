#!/usr/bin/env bash
# Measures which GPUs jobs get and how near to each other a gang's pods are, with Berth and without; see main.go. Builds the
# control plane, but not Berth.
#
#   bench/topology/run.sh [--seeds 1,2,3] [--jobs 300] [--nodes 8] [--gangs 40] [--format table|json]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=$PATH:/usr/local/go/bin
tests/cluster/build.sh
go build -buildvcs=false -o build/testcluster/bench-topology ./bench/topology
exec build/testcluster/bench-topology "$@"
