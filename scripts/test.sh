#!/usr/bin/env bash
# Installs what is needed, builds everything with one architecture of device code, and runs every test; under tsan, the
# concurrent tests.
#
#   scripts/test.sh [PRESET] [ctest arguments…]      PRESET: release (default), debug, asan, tsan
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
case "${1:-}" in
  release | debug | asan | tsan) preset=$1; shift ;;
esac
scripts/install_dependencies.sh
# Where ccache is there, it serves every clone of the repository.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

options=()
if [ "$preset" = release ] || [ "$preset" = debug ]; then
  # Compiling the device code is part of the test; one architecture shows as much as all.
  options+=("-DWEFT_CUDA_ARCHITECTURES=${WEFT_TEST_CUDA_ARCHITECTURES:-90}")
  if ! command -v nvcc >/dev/null && [ ! -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    echo "test: no nvcc; device code is not compiled" >&2
    options=("-DWEFT_CUDA_ARCHITECTURES=none")
  fi
fi
cmake --preset "$preset" "${options[@]}" >/dev/null
if [ "$preset" = tsan ]; then
  # The others go through the distribution's gRPC, which is not built for ThreadSanitizer.
  cmake --build --preset tsan --target weft_concurrent_tests
  ctest --preset tsan --parallel "$(nproc)" -L concurrent "$@"
  exit
fi
cmake --build --preset "$preset"
scripts/check_tree.py
ctest --preset "$preset" --parallel "$(nproc)" "$@"
