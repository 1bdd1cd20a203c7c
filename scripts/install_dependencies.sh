#!/usr/bin/env bash
# Installs the Debian packages named in scripts/packages.txt (and any given as arguments) that are not there yet.
# The CUDA Toolkit is not among Debian's packages: its headers must be there already (CUDA_HOME or /usr/local/cuda).
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(grep -v '^#' scripts/packages.txt; printf '%s\n' "$@" | sed '/^$/d')
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "install_dependencies: run as root, or install sudo" >&2; exit 1; }
    sudo=(sudo)
  fi
  echo "Installing: ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null
fi
if [ ! -f "${CUDA_HOME:-/usr/local/cuda}/include/cuda.h" ]; then
  echo "install_dependencies: no cuda.h in ${CUDA_HOME:-/usr/local/cuda}/include." >&2
  echo "Install the CUDA Toolkit 12.6 or newer (a GPU is not needed), or set CUDA_HOME to where it is." >&2
  exit 1
fi
