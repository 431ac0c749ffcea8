#!/usr/bin/env bash
# Builds the programs of the test clusters under build/testcluster/: the control plane and kwok; and fetches the
# definitions of Fluid's resources.
# Quiet and instant when nothing has changed; a cold build takes minutes and says how far it is.
#
#   tests/cluster/build.sh               Kubernetes 1.37.2 and kwok
#   tests/cluster/build.sh --with-1.34   Kubernetes 1.34.4 as well
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$root/build/testcluster
cd "$root"

with_134=false
case "${1:-}" in
  '') ;;
  --with-1.34) with_134=true ;;
  *) sed -n '2,7p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac

mkdir -p "$out"
exec 9>"$out/lock"
flock 9

# Prints how far a build is, every tenth of the packages that it compiles when cold, and whatever is no package name.
progress() { # progress NAME PACKAGES
  local line count=0 downloading=false package='^[A-Za-z0-9._~+-]+(/[A-Za-z0-9._~+-]+)*$'
  while IFS= read -r line; do
    if [[ $line == 'go: downloading'* ]]; then
      $downloading || echo "  $1: downloading modules" >&2
      downloading=true
    elif [[ $line =~ $package ]]; then
      count=$((count + 1))
      if ((count % ($2 / 10) == 0)); then echo "  $1: $count of about $2 packages" >&2; fi
    else
      echo "$line" >&2
    fi
  done
}

# True when FILE was built from what KEY stands for.
current() { # current FILE KEY
  [[ -e $1 && -f $1.key && $(<"$1.key") == "$2" ]]
}

key_of() { # key_of FILE...: go version and content
  { go version; sha256sum "$@"; } | sha256sum | cut -d' ' -f1
}

controlplane() { # controlplane VERSION MODFILE PACKAGES
  local version=$1 modfile=$2 target=$out/$1/controlplane key
  key=$(key_of "$modfile" "${modfile%.mod}.sum" tests/cluster/controlplane/main.go tests/cluster/build.sh)
  if current "$target" "$key"; then return; fi
  echo "building the Kubernetes $version control plane (minutes when cold)" >&2
  mkdir -p "$out/$version"
  go build -v -buildvcs=false -modfile="$modfile" -o "$target" \
    -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version" \
    ./tests/cluster/controlplane 2>&1 | progress "Kubernetes $version" "$3"
  echo "$key" >"$target.key"
}

kwok() {
  local target=$out/kwok key source stage
  key=$(key_of tests/cluster/kwok/go.mod tests/cluster/kwok/go.sum tests/cluster/build.sh)
  if current "$target" "$key" && [[ -d $out/stages ]]; then return; fi
  echo "building kwok" >&2
  go build -C tests/cluster/kwok -v -buildvcs=false -o "$target" -ldflags '-s -w' sigs.k8s.io/kwok/cmd/kwok 2>&1 |
    progress kwok 600
  # The stages say how a fake kubelet changes a node or a pod; they come with kwok's own source.
  source=$(cd tests/cluster/kwok && go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
  rm -rf "$out/stages"
  mkdir -p "$out/stages"
  for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease \
    pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
    install -m 644 "$source/kustomize/stage/$stage.yaml" "$out/stages/"
  done
  echo "$key" >"$target.key"
}

fluid() {
  local target=$out/fluid module=github.com/fluid-cloudnative/fluid key source
  key=$(key_of tests/cluster/fluid/crds/go.mod tests/cluster/fluid/crds/go.sum tests/cluster/build.sh)
  if current "$target" "$key"; then return; fi
  go mod download -C tests/cluster/fluid/crds "$module"
  source=$(cd tests/cluster/fluid/crds && go list -m -f '{{.Dir}}' "$module")
  rm -rf "$target"
  mkdir -p "$target"
  install -m 644 "$source"/config/crd/bases/*.yaml "$target/"
  echo "$key" >"$target.key"
}

kubernetes_of() { # kubernetes_of MODFILE: the version it pins
  awk '$1 == "k8s.io/kubernetes" { sub(/^v/, "", $2); print $2; exit }' "$1"
}

controlplane "$(kubernetes_of go.mod)" go.mod 2500
kwok
fluid
if $with_134; then controlplane "$(kubernetes_of tests/cluster/v1.34/go.mod)" tests/cluster/v1.34/go.mod 2400; fi
