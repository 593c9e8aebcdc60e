#!/usr/bin/env bash
# run.sh BUILD SECONDS: both libFuzzer targets at once, for so long, from the seeds and from what earlier runs found.
# Ends with a line for each; a crash leaves its input in the build folder and fails.
set -uo pipefail
build=$(cd "$1" && pwd) seconds=$2
root=$(cd "$(dirname "$0")/../../../.." && pwd)
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz: FUZZ_SECONDS=$seconds: a positive whole number is wanted" >&2; exit 2; }

fuzz() {
  local name=$1 corpus=$2
  mkdir -p "$build/found_$name"
  "$build/libfuzzer_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$build/crash_$name-" "$build/found_$name" "$root/$corpus" >"$build/fuzz_$name.log" 2>&1
}
fuzz ptx tools/emulator/ptx/fuzz/corpus &
ptx=$!
fuzz fat_binary tools/emulator/cuda/fuzz/corpus &
fat_binary=$!
echo "fuzz: ptx and fat_binary for $seconds s each"
failed=0
for name in ptx fat_binary; do
  if wait "${!name}"; then
    units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz_$name.log")
    echo "fuzz: $name: $units inputs in $seconds s, no finding"
  else
    failed=1
    tail -40 "$build/fuzz_$name.log"
    echo "fuzz: $name: a finding, see above; its input is $build/crash_$name-*"
  fi
done
exit $failed
