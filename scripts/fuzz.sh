#!/usr/bin/env bash
# Builds the libFuzzer targets and runs each for SECONDS (default 60), starting from its corpus in tests/fuzz/corpus.
#
#   scripts/fuzz.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
cmake --preset fuzz -DWEFT_BUILD_TESTS=ON >/dev/null
cmake --build --preset fuzz --target weft_fuzzers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for fuzzer in build/fuzz/bin/tests/*_fuzz; do
  name=$(basename "$fuzzer" _fuzz)
  mkdir -p "$work/$name"
  echo "Fuzzing $name for $seconds s"
  "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$work/" "$work/$name" "tests/fuzz/corpus/$name" || {
    cp "$work"/crash-* "$work"/timeout-* "$work"/oom-* . 2>/dev/null || true
    echo "fuzz: $name failed; the input is beside the repository's top" >&2
    exit 1
  }
done
