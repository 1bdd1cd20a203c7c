#!/usr/bin/env bash
# clang-tidy over every source file of Weft's own, and clang's thread-safety analysis of everything that is built.
set -euo pipefail
cd "$(dirname "$0")/.."

# Without precompiled headers: GCC's are not clang's.
cmake --preset tsa -DWEFT_PCH=OFF -DWEFT_BUILD_TESTS=OFF >/dev/null
cmake --build --preset tsa
git ls-files '*.cc' |
  grep -Ev '^(tests|bench|client/example)/|\.host\.cc$' |
  xargs -P "$(nproc)" -n 4 clang-tidy -p build/tsa --quiet 2>/dev/null
