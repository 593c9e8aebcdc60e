#!/usr/bin/env bash
# run.sh BUILD_FOLDER [arguments of calibrate...]: on a GPU of compute capability 9.0 or 10.0, measures it, keeps the
# record in BUILD_FOLDER/calibration.json and sets the model of that machine beside it; elsewhere, or with EMULATE=1,
# sets the model beside the records of this repository.
set -euo pipefail
build=$1
shift
recorded=$(dirname "$0")/recorded

devices=""
[[ ${EMULATE:-0} == 1 ]] || devices=$(nvidia-smi --query-gpu=index,compute_cap --format=csv,noheader 2>/dev/null || true)
gpu=$(awk -F', ' '$2 == "10.0" || $2 == "9.0" { print; exit }' <<<"$devices")

if [[ -n $gpu ]]; then
  machine=h200
  [[ ${gpu##*, } == 10.0 ]] && machine=b200
  CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-${gpu%%,*}} \
    "$build/calibrate" --json "$build/calibration.json" "$@"
  echo
  exec "$build/emu" --machine $machine --timing -- "$build/calibrate" --compare "$build/calibration.json" "$@"
fi
echo "h200, against measurements on one:"
"$build/emu" --machine h200 --timing -- "$build/calibrate" --compare "$recorded/h200.json" "$@"
echo
echo "b200, against published measurements:"
"$build/emu" --machine b200 --timing -- "$build/calibrate" --compare "$recorded/b200_published.json" "$@"
