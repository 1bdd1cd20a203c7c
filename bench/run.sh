#!/bin/sh
# Starts a weftd, runs every benchmark against it, prints one table and writes one JSON file.
#
#   bench/run.sh [--root DIR] [--driver auto|cuda|cpu] [--out FILE.json] [flags of weft-bench …]
#
# DIR has bin/weftd and bin/bench/weft-bench: an installed tree (the default when this script lies in
# its bin/bench) or a build folder (default build/release). Needs a shell and nothing else.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/weft-bench" ]; then root=$here/../..; else root=$here/../build/release; fi
driver=${WEFT_DRIVER:-auto}
out=bench.json
while [ $# -gt 0 ]; do
  case $1 in
    --root) root=$2; shift 2 ;;
    --driver) driver=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) break ;;
  esac
done
for program in "$root/bin/weftd" "$root/bin/bench/weft-bench"; do
  if [ ! -x "$program" ]; then
    echo "run.sh: no $program; build with -DWEFT_BUILD_BENCH=ON, or give --root" >&2
    exit 2
  fi
done

scratch=$(mktemp -d)
daemon=
finish() {
  [ -z "$daemon" ] || { kill -TERM "$daemon" 2>/dev/null && wait "$daemon" || true; }
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM

mkfifo "$scratch/ready"
"$root/bin/weftd" --socket="$scratch/weftd.sock" --driver="$driver" --ready-fd=3 \
  --log-level=warning 3>"$scratch/ready" &
daemon=$!
# weftd writes a line when it serves; end of file without one means that it could not start.
if ! read -r _ <"$scratch/ready"; then
  echo "run.sh: weftd did not start" >&2
  exit 1
fi
"$root/bin/bench/weft-bench" --socket="$scratch/weftd.sock" --driver="$driver" \
  --benchmark_out="$out" --benchmark_out_format=json --benchmark_counters_tabular=true \
  --benchmark_context=driver="$driver" --benchmark_context=kernel="$(uname -r)" "$@"
echo "run.sh: the same figures are in $out"
