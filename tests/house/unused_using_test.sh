#!/usr/bin/env bash
# Fails when a .cpp file names something by "using X::Y;" or "namespace Y = X;" and then has no use for Y. clang-tidy has
# such checks, which look into no included file, and scripts/tidy takes several files as one. Proves first, on planted
# files, that it finds.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

unused() { # unused FILE...
  awk '
    function report(   i) {
      for (i = 0; i < count; i++) if (!(names[i] in seen)) print places[i] ": " names[i] " is not used"
    }
    FNR == 1 { report(); count = 0; split("", seen) }
    /^ *#/ { next }
    {
      code = $0
      gsub(/"([^"\\]|\\.)*"/, "", code)
      sub(/\/\/.*/, "", code)
      if (code ~ /^ *using [A-Za-z_0-9:]+;/ || code ~ /^ *namespace [A-Za-z_0-9]+ =/) {
        name = code
        sub(/^ *namespace /, "", name)
        sub(/[; ]*=.*|;.*/, "", name)
        sub(/.*[: ]/, "", name)
        names[count] = name
        places[count++] = FILENAME ":" FNR
        next
      }
      gsub(/::[ ]*[A-Za-z_0-9]+/, "", code)  # of a qualified name, only what it begins with is looked up
      while (match(code, /[A-Za-z_][A-Za-z_0-9]*/)) {
        seen[substr(code, RSTART, RLENGTH)]
        code = substr(code, RSTART + RLENGTH)
      }
    }
    END { report() }' "$@"
}

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
printf '%s\n' '#include <vector>' 'using std::vector;  // vector' 'std::vector<int> v = f("vector");' 'using std::vector;' \
  'using std::map;' 'map<int, int> m;' 'using model::Reason;' 'auto r = Reason::kNone;' 'namespace fs = std::filesystem;' \
  'namespace ch = std::chrono;' 'auto t = ch::now();' >"$planted/a"
printf '%s\n' 'vector<int> v; fs::path p;' >"$planted/b"
expected=$(printf '%s\n' "$planted/a:2: vector is not used" "$planted/a:4: vector is not used" "$planted/a:9: fs is not used")
found=$(unused "$planted/a" "$planted/b")
[[ $found == "$expected" ]] || { printf 'self-test failed, found:\n%s\n' "$found"; exit 1; }

found=$(find src tests bench -name '*.cpp' -print0 | LC_ALL=C sort -z | xargs -0 bash -c "$(declare -f unused)"'; unused "$@"' _)
[[ ! $found ]] || { echo "$found"; exit 1; }
