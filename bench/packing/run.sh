#!/usr/bin/env bash
# Measures how many GPUs of the openb trace each policy can allocate, and how long large jobs wait; see main.go. Needs the
# trace, which is not part of this repository, and the release build.
#
#   bench/packing/run.sh [--trace DIR] [--seeds 1..10] [--only published,berth,...] [--format table|json]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=$PATH:/usr/local/go/bin
mkdir -p build/bench
go build -buildvcs=false -o build/bench/packing ./bench/packing
exec build/bench/packing "$@"
