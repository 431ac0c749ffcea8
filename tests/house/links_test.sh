#!/usr/bin/env bash
# Fails when a relative link of a Markdown file leads nowhere, or a script that it names in `code` does not exist.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=0

# missing FROM TARGET: says so unless TARGET exists, seen from the directory of FROM or from the root.
missing() {
  [[ -e $(dirname "$1")/$2 || -e $2 ]] && return
  echo "$1: $2 does not exist"
  failed=1
}

shopt -s nullglob
for page in README.md docs/*.md deploy/*/*.md; do
  while IFS= read -r link; do
    [[ $link =~ ^(https?:|mailto:|#) ]] || missing "$page" "${link%%#*}"
  done < <(grep -oE '\]\([^) ]+\)' "$page" | sed -E 's/^\]\(|\)$//g')
  while IFS= read -r path; do
    missing "$page" "$path"
  done < <(grep -oE '`(scripts|docs|deploy|tests|bench|include|src|cmake)/[A-Za-z0-9_./-]+' "$page" | tr -d '`' | grep -v NAME | sort -u)
done
exit $failed
