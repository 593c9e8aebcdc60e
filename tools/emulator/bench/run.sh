#!/usr/bin/env bash
# run.sh BUILD_FOLDER: how fast the emulator is on this machine. Prints figures, asserts none.
set -euo pipefail
build=$1
emu=$build/emu

title() { printf '\n%s\n' "$1"; }

echo "host: $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
title "warp instructions a second, flat cost (--flat)"
"$emu" --flat -- "$build/bench_speed" 4000
title "the same with AVX2 routines (EMU_ISA=avx2)"
EMU_ISA=avx2 "$emu" --flat -- "$build/bench_speed" 4000
title "the same, timed (the default)"
"$emu" -- "$build/bench_speed" 1000
for chapter in 01 07; do
  [[ -x $build/ch$chapter ]] || continue
  title "chapter ${chapter#0}: TMA, TMEM loads, exponentials, MMA; exact sums, then --fast-mma, then timed; one worker"
  for options in "--flat" "--flat --fast-mma" "--timing"; do
    # shellcheck disable=SC2086  # several options
    "$emu" $options --stats --workers 1 -- "$build/ch$chapter" --shape 1x4x2048 --bench 2>&1 |
      sed -n "s/^  emulated here/  $options/p" | tail -1
  done
done
title "tcgen05.mma of 128 x 128 x 128, one core"
"$build/bench_tensor_core"
title "a large module through the driver API (--flat, then timed)"
"$emu" --flat -- "$build/bench_large_module"
"$emu" -- "$build/bench_large_module"
