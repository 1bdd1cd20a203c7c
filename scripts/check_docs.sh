#!/usr/bin/env bash
# Holds the docs against the code: generated pages are as the generator writes them now, every error function has its
# section, and what the README tells to type exists.
#
#   scripts/check_docs.sh BUILD          checks
#   scripts/check_docs.sh BUILD --write  writes the generated pages anew
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
scripts/make_job_format.py "$build" >"$work/job-format.md"
scripts/make_errors_doc.py >"$work/errors.md"
scripts/make_cli_doc.py "$build" >"$work/cli.md"
scripts/make_nodes_doc.py "$build" >"$work/nodes.md"
for page in job-format.md errors.md cli.md nodes.md; do
  if [ "${2:-}" = --write ]; then
    cp "$work/$page" "docs/$page"
  elif ! diff -u "docs/$page" "$work/$page"; then
    echo "docs/$page is stale: run scripts/check_docs.sh $build --write" >&2
    status=1
  fi
done
scripts/check_errors_doc.py || status=1
exit $status
