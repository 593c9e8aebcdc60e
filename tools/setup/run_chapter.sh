#!/usr/bin/env bash
# run_chapter.sh BUILD_FOLDER NN [arguments...]: runs chapter NN on a device of compute capability 10.0 where there is
# one, else on the emulator, and says which. EMULATE=1 asks for the emulator; EMU_ARGS are options for it.
set -euo pipefail
build=$1 number=$2
shift 2

say() { echo "ch$number: $*" >&2; }

devices=""
[[ ${EMULATE:-0} == 1 ]] || devices=$(nvidia-smi --query-gpu=index,compute_cap,name --format=csv,noheader 2>/dev/null || true)
b200=$(awk -F', ' '$2 == "10.0" { print $1; exit }' <<<"$devices")

if [[ -n $b200 ]]; then
  say "running on $(awk -F', ' -v i="$b200" '$1 == i { print $3 }' <<<"$devices")"
  export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-$b200}
  exec "$build/ch$number" "$@"
elif [[ ${EMULATE:-0} == 1 ]]; then
  say "running on the emulator, as asked"
elif [[ -n $devices ]]; then
  say "$(awk -F', ' 'NR == 1 { print $3 ", compute capability " $2 }' <<<"$devices") is no B200 (10.0): running on the emulator"
else
  say "no GPU here: running on the emulator"
fi
# shellcheck disable=SC2086  # EMU_ARGS holds several words
exec "$build/emu" ${EMU_ARGS:-} -- "$build/ch$number" "$@"
