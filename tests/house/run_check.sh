#!/usr/bin/env bash
# Starts scripts/run, pastes the commands that it prints, and compares the answers with those that README.md promises.
# Needs the release build. Ports are free ones when the usual two are taken.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
mkfifo "$scratch/out"
"$root/scripts/run" >"$scratch/out" 2>"$scratch/err" &
run=$!
trap 'kill -TERM $run 2>/dev/null || true; rm -rf "$scratch"' EXIT

exec 3<"$scratch/out"
commands=()
while IFS= read -r -t 600 line <&3; do
  [[ $line == '   curl '* || $line == '   '*' explain '* ]] && commands+=("$line")
  [[ $line == *'Ctrl-C ends it.' ]] && break
done
failed=0
same() { # same WHAT GOT WANT
  [[ $2 == "$3" ]] && return
  printf '%s\n  got:  %s\n  want: %s\n' "$1" "$2" "$3"
  failed=1
}
same 'commands printed' "${#commands[@]}" 5
((failed == 0)) || { cat "$scratch/err"; exit 1; }

cd / # the commands must work from anywhere
filter=$(eval "${commands[0]}")
prioritize=$(eval "${commands[1]}")
explain=$(eval "${commands[2]}")
datasets=$(eval "${commands[3]}")
recommend=$(eval "${commands[4]}")
same 'nodes that stay' "$(grep -oE '"NodeNames":\[[^]]*\]' <<<"$filter" | grep -oE '[a-z0-9]+-[a-z]' | sort | xargs)" \
  'a100-b h100-a h100-b h100-c pcie-a v100-a'
same 'nodes that fail' "$(grep -oE '"[a-z0-9]+-[a-z]":"[A-Z_]+"' <<<"$filter" | tr -d '"' | sort | xargs)" \
  'a100-a:INSUFFICIENT_GPU cpu-a:INSUFFICIENT_GPU t4-a:GPU_MEMORY_TOO_SMALL'
same 'scores' "$(sed -E 's/\{"Host":"([^"]*)","Score":([0-9]+)\}/\1=\2/g; s/[][]//g; s/,/ /g' <<<"$prioritize" | xargs)" \
  'h100-a=10 h100-b=8 v100-a=6 pcie-a=4 h100-c=3 a100-b=2'
same 'winner in explain' "$(awk '$1 == "winner" { print $2 }' <<<"$explain")" h100-a

same 'datasets' "$(grep -oE '"name":"[^"]*"' <<<"$datasets" | cut -d'"' -f4 | xargs)" 'vision/imagenet vision/laion'
same 'nodes recommended' "$(grep -oE '"slurmNodeList":"[^"]*"' <<<"$recommend" | cut -d'"' -f4)" \
  'a100-b,h100-a,h100-b,h100-c,pcie-a,t4-a,v100-a'
# What README.md shows of explain is what explain prints, but for what changes from run to run.
varying() {
  sed -E 's/[0-9]+ (ms|us)/N \1/g; s/snapshot [0-9]+/snapshot N/; s/(measured|uniform|assumed|label) [0-9]+[smhd]/\1 AGE/; s/ +/ /g'
}
shown=$(awk '/^pod       vision/ { on = 1 } /^```/ { on = 0 } on' "$root/README.md")
same 'explain in README.md' "$(varying <<<"$explain")" "$(varying <<<"$shown")"

rc=0
kill -TERM $run
wait $run || rc=$?
same 'exit status after TERM' "$rc" 0
exit $failed
