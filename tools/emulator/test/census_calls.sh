#!/bin/sh
# census_calls.sh LIBRARY LIST: every runtime function of the list is implemented. What is not is a weak stub that
# refuses by name.
implemented=$(mktemp) && trap 'rm -f "$implemented"' EXIT
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' >"$implemented"
missing=$(grep -E '^(__)?cuda' "$2" | grep -vxFf "$implemented")
[ -z "$missing" ] || { echo "not implemented:"; echo "$missing"; exit 1; }
echo "$(grep -cE '^(__)?cuda' "$2") runtime functions of the census are implemented"
