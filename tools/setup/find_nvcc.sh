#!/usr/bin/env bash
# find_nvcc.sh [build folder]: prints the nvcc to use, 13.0 or newer; exits 1 when there is none.
# Looks at $NVCC, $PATH, $CUDA_HOME, /usr/local/cuda, then at the wheels set-up put into <build folder>/cuda.
# WORKBOOK_HIDE_NVCC=1 passes over all but the last, as on a machine that has nothing from NVIDIA.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build}

major_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p'; }

candidates=()
if [[ -n ${NVCC:-} ]]; then
  candidates=("$NVCC")
else
  if [[ ${WORKBOOK_HIDE_NVCC:-0} != 1 ]]; then
    candidates+=("$(command -v nvcc || true)" "${CUDA_HOME:-/nonexistent}/bin/nvcc" /usr/local/cuda/bin/nvcc)
  fi
  candidates+=("$build/cuda/bin/nvcc" "$root/build/cuda/bin/nvcc")
fi
for candidate in "${candidates[@]}"; do
  [[ -n $candidate && -x $candidate ]] || continue
  version=$(major_version "$candidate")
  if [[ -n $version && $version -ge 13 ]]; then
    readlink -f "$candidate"
    exit 0
  fi
done
exit 1
