#!/usr/bin/env bash
# run_sass.sh BUILD_FOLDER [arguments...]: prints the machine code of every chapter's main loops beside what the timing
# model issues for them. Takes cuobjdump and nvdisasm from the toolkit where it has them, else fetches NVIDIA's wheels
# into BUILD_FOLDER. Arguments go to sass_table.py, for example --lines, or --within 0.10 to fail outside 10 %.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift

fail() {
  echo "sass: $1" >&2
  echo "sass: way out: $2" >&2
  exit 1
}

toolkit=$(dirname "$("$here/../setup/find_nvcc.sh" 2>/dev/null || echo /none)")
fetched=$build/disassembler
if [[ -x $toolkit/cuobjdump && -x $toolkit/nvdisasm ]]; then
  tools=$toolkit
else
  tools=$fetched/tree/nvidia/cu13/bin
  if ! cmp -s "$here/disassembler_wheels.txt" "$fetched/wheels.txt"; then
    echo "sass: no cuobjdump and nvdisasm beside nvcc: fetching NVIDIA's wheels (8 MB) into $fetched" >&2
    rm -rf "$fetched"
    python3 -m venv "$fetched/venv" || fail "python3 -m venv failed" "apt-get install python3-venv"
    "$fetched/venv/bin/pip" --disable-pip-version-check --quiet install --no-deps --only-binary :all: \
      --require-hashes --target "$fetched/tree" -r "$here/disassembler_wheels.txt" ||
      fail "the wheels could not be fetched" "check the network, or install the CUDA toolkit's cuobjdump and nvdisasm"
    cp "$here/disassembler_wheels.txt" "$fetched/wheels.txt"
  fi
fi
shopt -s nullglob
objects=("$build"/chapters/_0[1-9]_*.o "$build"/chapters/_1[0-9]_*.o)
[[ ${#objects[@]} -gt 0 ]] || fail "no chapter is built in $build" "make run, or cmake --build $build --target workbook"
exec python3 "$here/sass_table.py" --tools "$tools" --model "$build/model_slots" "$@" "${objects[@]}"
