#!/usr/bin/env bash
# run_ladder.sh BUILD_FOLDER [arguments...]: the ladder's table where that tool is built, else every chapter in turn.
set -euo pipefail
build=$1
shift
if [[ -x $build/ladder ]]; then
  exec "$build/ladder" "$@"
fi
here=$(dirname "$0")
status=0
for chapter in "$build"/ch[0-9][0-9]; do
  "$here/run_chapter.sh" "$build" "${chapter##*/ch}" "$@" || status=$?
done
exit "$status"
