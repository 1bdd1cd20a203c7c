#!/usr/bin/env bash
# From a fresh clone to a picture: installs what is needed, builds, starts weftd, runs demos/jobs/edges.textproto on a
# photograph, says what happened, stops weftd. Uses a GPU when there is one, else the CPU implementation of the driver.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh
# Where ccache is there, it serves every clone of the repository.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# Device code only for the GPU that is here; none without a GPU (the CPU driver has kernels of its own).
architectures=none
if command -v nvidia-smi >/dev/null; then
  architectures=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u | paste -sd';')
  architectures=${architectures:-none}
fi
echo "Building (build/release) ..."
log=$(mktemp)
scratch=$(mktemp -d)
daemon=
cleanup() {
  if [ -n "$daemon" ] && kill -0 "$daemon" 2>/dev/null; then
    kill -TERM "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
  fi
  rm -rf "$scratch" "$log"
}
trap cleanup EXIT
if ! { cmake --preset release -DWEFT_CUDA_ARCHITECTURES="$architectures" &&
       cmake --build --preset release --target weft_programs; } >"$log" 2>&1; then
  tail -40 "$log" >&2
  echo "quickstart: the build failed" >&2
  exit 1
fi

bin=build/release/bin
out=build/quickstart
mkdir -p "$out"
echo "Starting weftd ..."
mkfifo "$scratch/ready"
"$bin/weftd" --socket="$scratch/weftd.sock" --ready-fd=3 --log-level=warning 3>"$scratch/ready" &
daemon=$!
# weftd writes a line when it serves; end of file without one means that it could not start.
if ! read -r _ <"$scratch/ready"; then
  echo "quickstart: weftd did not start" >&2
  exit 1
fi
"$bin/weft" --socket="$scratch/weftd.sock" devices
"$bin/weft" --socket="$scratch/weftd.sock" run demos/jobs/edges.textproto --out-dir="$out"
kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
daemon=
if [ "$status" != 0 ]; then
  echo "quickstart: weftd ended with status $status" >&2
  exit 1
fi
echo
echo "A photograph (demos/data/photo.png) became a picture of its edges: gray, Gaussian blur and Sobel as one graph,"
echo "with a histogram of the gray levels computed beside them."
echo "  picture:   $out/edges.png"
echo "  histogram: $out/histogram.npy"
echo "Next: $bin/weft plan demos/jobs/edges.textproto    and README.md, \"A first job\"."
