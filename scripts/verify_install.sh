#!/usr/bin/env bash
# Checks an installed tree on this machine: the conformance suite and every kernel on a driver, and the demos, whose
# results on the GPU are compared with those of the CPU driver.
#
#   scripts/verify_install.sh PREFIX [cuda|host]      default: cuda
#
# Needs the tests component in PREFIX and Python 3 with NumPy. Prints one line a check and a closing line with counts;
# exit status 0 when all passed.
set -uo pipefail

prefix=$(cd "$1" && pwd)
driver=${2:-cuda}
weft_driver=$([ "$driver" = host ] && echo cpu || echo cuda)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # NAME COMMAND…
  local name=$1 start=$SECONDS
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name ($((SECONDS - start)) s) $(grep -E '^\[  PASSED  \]' "$work/log" | tail -1)"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    tail -25 "$work/log"
  fi
}

export WEFT_DRIVER=$driver
check "conformance suite, $driver driver" "$prefix/bin/tests/weft_conformance"
check "kernel tests, $driver driver" "$prefix/bin/tests/weft_kernel_tests"
check "library calls, $driver driver" "$prefix/bin/tests/weft_library_tests"
for job in "$prefix"/share/weft/demos/jobs/*.textproto; do
  name=$(basename "$job" .textproto)
  for on in cpu "$weft_driver"; do
    mkdir -p "$work/$name/$on"
    check "demo $name on $on" "$prefix/bin/weft" run --local --driver "$on" "$job" --out-dir "$work/$name/$on"
  done
  check "demo $name: same results on $weft_driver and cpu" \
    python3 "$prefix/share/weft/demos/compare_outputs.py" "$work/$name/cpu" "$work/$name/$weft_driver"
done
echo "verify_install: $passed passed, $failed failed"
[ "$failed" = 0 ]
