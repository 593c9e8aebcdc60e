#!/usr/bin/env bash
# diff_chapter.sh NN: chapter NN's kernel against its predecessor's, and how many lines differ.
set -euo pipefail
cd "$(dirname "$0")/../.."
kernels=(chapters/[0-9][0-9]_*/kernel.cu)
for i in "${!kernels[@]}"; do
  [[ ${kernels[i]} == chapters/"$1"_* ]] || continue
  if ((i == 0)); then
    echo "chapter $1 is the first: nothing to compare it with"
    exit 0
  fi
  colour=never
  [[ -t 1 ]] && colour=always
  diff -u --color="$colour" "${kernels[i - 1]}" "${kernels[i]}" || [[ $? == 1 ]]
  { diff "${kernels[i - 1]}" "${kernels[i]}" || [[ $? == 1 ]]; } |
    awk '/^</ { gone++ } /^>/ { come++ } END { printf "%d lines removed, %d added\n", gone, come }'
  exit 0
done
echo "diff-$1: no chapters/$1_*/kernel.cu" >&2
exit 2
