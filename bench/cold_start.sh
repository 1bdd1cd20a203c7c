#!/bin/sh
# How long the first job of a new weftd waits before it is launched: a fill, a built-in kernel, and a kernel of the job's
# own whose compiled image an earlier weftd left on disk. Prints a line a kind: the first weftd's time and the median of
# the others, in microseconds.
#
#   bench/cold_start.sh [--root DIR] [--driver auto|cuda|cpu] [--daemons N]
#
# DIR has bin/weftd and bin/weft: an installed tree (the default when this script lies in its bin/bench) or a build folder
# (default build/release). Needs a shell, sed and sort.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/weft-bench" ]; then root=$here/../..; else root=$here/../build/release; fi
driver=${WEFT_DRIVER:-auto}
daemons=7
while [ $# -gt 0 ]; do
  case $1 in
    --root) root=$2; shift 2 ;;
    --driver) driver=$2; shift 2 ;;
    --daemons) daemons=$2; shift 2 ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

scratch=$(mktemp -d)
daemon=
stop() {
  [ -z "$daemon" ] || { kill -TERM "$daemon" 2>/dev/null && wait "$daemon" || true; }
  daemon=
}
finish() {
  stop
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME="$scratch/cache"  # so that the first one has nothing

buffer='buffers { name: "x" data_type: DATA_TYPE_F32 shape: 64 }'
echo "$buffer nodes { fill { dst { buffer: \"x\" } } }" >"$scratch/fill.textproto"
echo "$buffer nodes { kernel { kernel: \"fill\" args { name: \"dst\" view { buffer: \"x\" } } } }" \
  >"$scratch/built_in_kernel.textproto"
cat >"$scratch/own_kernel.textproto" <<'JOB'
buffers { name: "x" data_type: DATA_TYPE_F32 shape: 64 }
modules { name: "m" cuda: "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] = 2.0f * threadIdx.x; }" }
nodes { user_kernel { module: "m" entry: "twice" params { view { buffer: "x" } access: ACCESS_WRITE }
                      launch { grid_x: 1 grid_y: 1 grid_z: 1 block_x: 64 block_y: 1 block_z: 1 } } }
JOB

first_job() { # JOB: prints nanoseconds
  "$root/bin/weftd" --socket="$scratch/weftd.sock" --driver="$driver" --log-level=warning &
  daemon=$!
  "$root/bin/weft" --socket="$scratch/weftd.sock" status --wait 60 >/dev/null
  "$root/bin/weft" --socket="$scratch/weftd.sock" run --json "$1" | sed -n 's/.*"queued_ns": "\([0-9]*\)".*/\1/p'
  stop
}

for kind in fill built_in_kernel own_kernel; do
  first=$(first_job "$scratch/$kind.textproto")
  i=1
  : >"$scratch/others"
  while [ "$i" -le "$daemons" ]; do
    first_job "$scratch/$kind.textproto" >>"$scratch/others"
    i=$((i + 1))
  done
  median=$(sort -n "$scratch/others" | sed -n "$(((daemons + 1) / 2))p")
  echo "$kind: first weftd $((first / 1000)) us, median of $daemons others $((median / 1000)) us before launch"
done
