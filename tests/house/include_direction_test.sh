#!/usr/bin/env bash
# Fails when a module includes what it may not (docs/development.md), or a source file has grown past 400 lines.
# Before it looks at the project it proves on a small tree of its own that each rule can fail.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
max_lines=400

# Prints the rules that the tree in the current directory breaks.
check() {
  find src include/berth -name '*.h' -o -name '*.cpp' | LC_ALL=C sort | xargs awk -f "$here/include_direction.awk"
  find src include tests bench -type f \
    \( -name '*.h' -o -name '*.cpp' -o -name '*.go' -o -name '*.sh' -o -name '*.awk' -o -name '*.cmake' \) \
    -not -path 'tests/data/*' -not -path 'tests/fuzz/corpus/*' -exec awk -v max=$max_lines '
      FNR == max + 1 { print FILENAME ":" FNR ": longer than " max " lines" }' {} +
}

failed=0
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# A tree in which every module exists and nothing is wrong.
clean_tree() {
  rm -rf "${tree:?}"/*
  local module
  for module in core model policy simulate rehearse codec net kube sources state server agent cli; do
    mkdir -p "$tree/src/$module" "$tree/include/berth/$module"
    echo '#pragma once' >"$tree/include/berth/$module/a.h"
    echo '#pragma once' >"$tree/src/$module/own_$module.h"
    printf '#include "own_%s.h"\n#include <vector>\n#include <sys/socket.h>\n' "$module" >"$tree/src/$module/a.cpp"
  done
  mkdir -p "$tree/tests" "$tree/bench"
  echo '#include "berth/cli/a.h"' >"$tree/src/main.cpp"
  echo '#include "berth/model/a.h"' >"$tree/src/policy/b.cpp"
  echo '#include <curl/curl.h>' >"$tree/src/net/b.cpp"
}

# must_fail FILE LINE MESSAGE: with LINE added to FILE the tree is wrong, and MESSAGE says why.
must_fail() {
  local before found
  before=$(cat "$tree/$1" 2>/dev/null || true)
  printf '%s\n' "$2" >>"$tree/$1"
  found=$(cd "$tree" && check)
  if [[ $before ]]; then echo "$before" >"$tree/$1"; else rm "$tree/$1"; fi
  if [[ $found != *"$3"* || $(grep -c . <<<"$found") != 1 ]]; then
    echo "self-test: '$2' in $1 should be one violation, '$3', but got: ${found:-none}"
    failed=1
  fi
}

clean_tree
found=$(cd "$tree" && check)
[[ -z $found ]] || { echo "self-test: a clean tree should pass, but got: $found"; failed=1; }

# upward MODULE OTHER...: the module may include none of the others.
upward() {
  local module=$1 other
  for other in "${@:2}"; do
    must_fail "src/$module/a.cpp" "#include \"berth/$other/a.h\"" "$module may not include $other"
    must_fail "include/berth/$module/a.h" "#include \"berth/$other/a.h\"" "$module may not include $other"
  done
}
upward core model policy simulate codec net kube sources state server agent cli
upward model policy simulate codec net kube sources state server agent cli
upward policy simulate codec net kube sources state server agent cli
upward simulate rehearse codec net kube sources state server agent cli
upward rehearse sources state server agent cli
upward codec policy simulate net kube sources state server agent cli
upward net model policy simulate codec kube sources state server agent cli
upward kube policy simulate sources state server agent cli
upward sources policy simulate state server agent cli
upward state policy simulate server agent cli
upward server simulate rehearse agent cli
upward agent policy simulate sources state server cli
must_fail src/main.cpp '#include "berth/server/a.h"' 'main may not include server'
must_fail src/core/a.cpp '#include "berth/gateway/a.h"' 'core may not include gateway'

# owned HEADER LIBRARY MODULE...: each of the modules is refused the library.
owned() {
  local module
  for module in "${@:3}"; do
    must_fail "src/$module/a.cpp" "#include <$1>" "$module may not include $2"
  done
}
owned simdjson.h simdjson core model policy net kube sources state server agent cli
owned nlohmann/json.hpp nlohmann/json core model policy net kube sources state server agent cli
owned curl/curl.h libcurl core model policy codec kube sources state server agent cli
owned openssl/ssl.h OpenSSL core model policy codec kube sources state agent cli
owned httplib.h cpp-httplib core model policy codec net kube sources state agent cli
owned prometheus/counter.h prometheus-cpp core model policy codec net kube sources state agent cli
owned yaml-cpp/yaml.h yaml-cpp core model policy codec net sources state agent cli
owned CLI/CLI.hpp CLI11 core model policy codec net kube sources state server agent
owned spdlog/spdlog.h spdlog core model
owned fmt/format.h spdlog core model
owned hiredis/hiredis.h hiredis core model policy codec net kube sources state server agent cli
owned grpcpp/grpcpp.h gRPC core model policy codec net kube sources state server cli
owned podresources/api.grpc.pb.h gRPC core kube server cli
must_fail src/server/a.cpp '#include <boost/asio.hpp>' 'belongs to no module yet'

must_fail src/kube/a.cpp '#include "own_net.h"' 'a private header of another module'
must_fail src/kube/a.cpp '#include "../net/own_net.h"' 'from their own directory only'
must_fail src/kube/a.cpp '  #  include "../net/own_net.h"' 'from their own directory only'
must_fail include/berth/net/a.h '#include "own_net.h"' 'a public header includes a private one'

long=$(printf '//\n%.0s' $(seq $((max_lines + 1))))
for file in src/core/long.cpp include/berth/core/long.h tests/long_test.cpp tests/long.go bench/long.cpp; do
  must_fail "$file" "$long" "longer than $max_lines lines"
done

mkdir "$tree/src/gateway" && echo >"$tree/src/gateway/a.cpp"
[[ $(cd "$tree" && check) == *'module gateway has no place'* ]] || { echo 'self-test: an unknown module passes'; failed=1; }

found=$(cd "$root" && check)
if [[ -n $found ]]; then
  echo "$found"
  failed=1
fi
exit $failed
