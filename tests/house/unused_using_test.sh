#!/usr/bin/env bash
# Fails when a .cpp file names something by "using X::Y;" and then has no use for Y. clang-tidy has such a check, which
# looks into no included file, and scripts/tidy takes several files as one. Proves first, on planted files, that it finds.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

unused() { # unused FILE...
  awk '
    function report(   i) {
      for (i = 0; i < count; i++) if (seen[names[i]] == 1) { print places[i] ": " names[i] " is not used" }
    }
    FNR == 1 { report(); count = 0; split("", seen) }
    {
      code = $0
      sub(/\/\/.*/, "", code)
      if (code ~ /^ *using [A-Za-z_0-9:]+;/) {
        name = code
        sub(/;.*/, "", name)
        sub(/.*[: ]/, "", name)
        names[count] = name
        places[count++] = FILENAME ":" FNR
      }
      while (match(code, /[A-Za-z_][A-Za-z_0-9]*/)) {
        seen[substr(code, RSTART, RLENGTH)]++
        code = substr(code, RSTART + RLENGTH)
      }
    }
    END { report() }' "$@"
}

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
printf '%s\n' 'using std::vector;  // vector' 'using std::map;' 'map<int, int> m;' >"$planted/a"
printf '%s\n' 'std::vector<int> v;' >"$planted/b"
[[ $(unused "$planted/a" "$planted/b") == "$planted/a:1: vector is not used" ]] || { echo "self-test failed"; exit 1; }

found=$(find src tests bench -name '*.cpp' -print0 | LC_ALL=C sort -z | xargs -0 bash -c "$(declare -f unused)"'; unused "$@"' _)
[[ ! $found ]] || { echo "$found"; exit 1; }
