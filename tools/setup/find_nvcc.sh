#!/usr/bin/env bash
# Prints the nvcc to use, of 13.0 or newer; exits 1 and says why where there is none.
# NVCC=/path/to/nvcc decides it. Else the first that will do of: PATH, CUDA_HOME, /usr/local/cuda, and build/cuda,
# where set-up puts NVIDIA's wheels. WORKBOOK_HIDE_NVCC=1 looks at build/cuda alone, as on a machine that has
# nothing from NVIDIA.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

version_of() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'; }

if [[ -n ${NVCC:-} ]]; then
  candidates=("$(command -v "$NVCC" || echo "$NVCC")")
elif [[ ${WORKBOOK_HIDE_NVCC:-0} == 1 ]]; then
  candidates=("$root/build/cuda/bin/nvcc")
else
  candidates=("$(command -v nvcc || true)" "${CUDA_HOME:-/nonexistent}/bin/nvcc" /usr/local/cuda/bin/nvcc
              "$root/build/cuda/bin/nvcc")
fi

for candidate in "${candidates[@]}"; do
  [[ -n $candidate && -x $candidate ]] || continue
  version=$(version_of "$candidate" || true)
  if [[ -n $version && ${version%%.*} -ge 13 ]]; then
    readlink -f "$candidate"
    exit 0
  fi
  echo "find_nvcc: $candidate is ${version:-of unknown version}; B200 code for this workbook needs 13.0 or newer" >&2
done
if [[ -n ${NVCC:-} ]]; then
  echo "find_nvcc: NVCC=$NVCC will not do; unset it to let set-up look further" >&2
fi
exit 1
