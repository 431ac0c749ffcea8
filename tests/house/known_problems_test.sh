#!/usr/bin/env bash
# Fails when a row of docs/known-problems.md names a test that does not exist, or none at all though Berth has an answer.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
page=docs/known-problems.md
failed=0

# Suite.Name of every GoogleTest test, and the name of every Go test.
tests=$({
  find tests -name '*.cpp' -exec cat {} + | tr '\n' ' ' |
    grep -oE '\<TEST(_F|_P)?\( *[A-Za-z0-9_]+, *[A-Za-z0-9_]+ *\)' | sed -E 's/.*\( *(\w+), *(\w+) *\)/\1.\2/'
  find tests bench -name '*_test.go' -exec grep -hoE '^func Test[A-Za-z0-9_]+' {} + | sed 's/^func //'
})

rows=0
while IFS= read -r row; do
  rows=$((rows + 1))
  thread=${row#| } thread=${thread%% |*}
  last=${row% |} last=${last##*| }
  if [[ $last == 'out of scope' ]]; then continue; fi
  named=$(grep -oE '`[^`]+`' <<<"$last" | tr -d '`') || { echo "$page: $thread: no test is named"; failed=1; continue; }
  while IFS= read -r name; do
    grep -qxF -- "$name" <<<"$tests" || { echo "$page: $thread: there is no test $name"; failed=1; }
  done <<<"$named"
done < <(grep -E '^\| [A-Za-z-]+#[0-9]+' "$page")

((rows > 0)) || { echo "$page: no row"; failed=1; }
exit $failed
