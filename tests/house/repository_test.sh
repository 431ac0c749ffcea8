#!/usr/bin/env bash
# Fails when the repository holds what belongs on one machine or in nobody's tree: paths of a developer's machine, hosts
# of package registries, markers of unfinished work, references to notes that a reader doesn't have. Proves first, on
# planted files, that each of them is found.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
failed=0

# The patterns are put together from halves, so that this file does not hold what it looks for.
paths='(^|[^A-Za-z0-9_.$}])(/wo''rk/|/ro''ot/[a-z.]|/ho''me/[a-z]|/Us''ers/[a-z]|[A-Z]:\\Us''ers)|\.\./sha''red/'
hosts='(pro''xy|su''m)\.golang\.org|goproxy\.[a-z]+|(deb|security|snapshot)\.deb''ian\.org|py''pi\.org|pythonhosted\.org|registry\.np''mjs\.org|crat''es\.io|(index|static)\.crates|repo1?\.mav''en|mav''en\.org'
markers='(^|[^A-Za-z.])(TO''DO|FIX''ME|XX''X|HA''CK)([^A-Za-z]|$)'

notes='(^|[^A-Za-z])(E''P|F''L|G''T|C''L) [0-9]+(\.[0-9]+)?([^0-9A-Za-z%]|$)|design(\.md)? ''§'

# look DESCRIPTION PATTERN FILE...: prints what it finds.
look() {
  local what=$1 pattern=$2
  shift 2
  grep -InE -- "$pattern" "$@" /dev/null | cut -c1-160 | sed "s/^/$what: /" || true
}

check() {
  look 'path of a machine' "$paths" "$@"
  look 'package registry' "$hosts" "$@"
  look 'unfinished work' "$markers" "$@"
  look 'note outside the repository' "$notes" "$@"
}

planted=$(mktemp)
trap 'rm -f "$planted"' EXIT
must_find() { # must_find COUNT LINE...
  printf '%s\n' "${@:2}" >"$planted"
  local found
  found=$(check "$planted")
  [[ $(grep -c . <<<"$found") == "$1" ]] || { echo "self-test: expected $1 findings in '${*:2}', got: ${found:-none}"; failed=1; }
}
must_find 1 'see /wo''rk/main/src'
must_find 1 'include "/ho''me/ann/x.h"'
must_find 1 'HOME=/ro''ot/.cache'
must_find 1 'GOPROXY=https://pro''xy.golang.org'
must_find 1 'http://deb.deb''ian.org/debian'
must_find 1 '// TO''DO: later'
must_find 1 '# FIX''ME'
must_find 1 '// why (E''P 1.10).'
must_find 1 '// as in design ''§5'
must_find 0 'context.TO''DO()' 'a directory like network/ro''ot/x' 'the /home page' 'mastodon' "\$root/wo""rk/x"

cd "$root"
mapfile -d '' -t files < <(
  if git -c safe.directory='*' rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git -c safe.directory='*' ls-files -z --cached --others --exclude-standard
  else
    find . -type f -not -path './build/*' -print0
  fi
)
present=()
for file in "${files[@]}"; do
  # go.sum and the licence are not our text; a file may be deleted but not yet committed.
  case $file in *go.sum | LICENSE | ./LICENSE) continue ;; esac
  [[ -f $file ]] && present+=("$file")
done
found=$(check "${present[@]}")
if [[ $found ]]; then
  echo "$found"
  failed=1
fi
exit $failed
