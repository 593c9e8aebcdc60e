#!/bin/sh
# compare_probe.sh PROGRAM RECORDED LIBRARIES SKIP: runs a probe on the libraries as an H200 and compares what it prints
# with the recording, lines matching SKIP and comments left out.
program=$1 recorded=$2 libraries=$3 skip=$4
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
LD_LIBRARY_PATH="$libraries" EMU_OPTIONS='{"machine":"h200"}' "$program" >"$work/out" 2>"$work/err"
code=$?
[ $code -eq 0 ] || { echo "exit code $code"; cat "$work/err"; exit 1; }
grep -v '^#' "$recorded" | grep -v "$skip" >"$work/expected"
grep -v "$skip" "$work/out" >"$work/got"
diff "$work/expected" "$work/got" || { echo "(left: hardware, right: emulator)"; exit 1; }
