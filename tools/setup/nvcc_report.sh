#!/usr/bin/env bash
# nvcc_report.sh [--allow-spills] -- nvcc arguments...: runs nvcc, prints registers, spills and shared memory of
# each kernel in place of ptxas' own lines, and fails where ptxas spilled registers to local memory.
set -euo pipefail
allow_spills=0
while [[ $1 != -- ]]; do
  case $1 in
    --allow-spills) allow_spills=1 ;;
    *) echo "nvcc_report.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
shift

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"$@" >"$log" 2>&1 || status=$?
# ptxas -v writes, per kernel: "Compiling entry function 'f' for 'sm_100a'", a line with stack and spill bytes,
# and "Used N registers, used M barriers, S bytes smem".
awk -v allow="$allow_spills" -v code="$status" '
  function number_before(words,   m) { return match($0, "[0-9]+ bytes " words) ? substr($0, RSTART) + 0 : 0 }
  /Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; next }
  /bytes stack frame/ { spill = number_before("spill stores") + number_before("spill loads"); stack = $0 + 0
                        if (match($0, "[0-9]+ bytes stack")) stack = substr($0, RSTART) + 0; next }
  /Used [0-9]+ registers/ {
    match($0, "Used [0-9]+"); registers = substr($0, RSTART + 5) + 0
    printf "  %s: %d registers, %d bytes spilled, %d bytes static shared memory%s\n", kernel, registers, spill,
           number_before("smem"), stack ? ", " stack " bytes of stack" : ""
    if (spill && !allow) { printf "error: ptxas spilled %d bytes in %s: a chapter must fit its registers\n", spill, kernel; failed = 1 }
    next }
  /^ptxas info/ || /Compile time/ { next }
  { print }
  END { exit code ? code : failed }' < <(c++filt -p <"$log" | sed 's/(anonymous namespace):://g')
