#!/bin/sh
# check_exports.sh LIBRARY LIST SONAME: the library exports every name of the list and carries the soname.
# libcudart's exports must also carry its version node, or the loader of every program prints a warning.
library=$1 list=$2 soname=$3
found=$(mktemp) && trap 'rm -f "$found"' EXIT
nm -D --defined-only "$library" | awk '{print $3}' >"$found"
readelf -d "$library" | grep -q "soname: \[$soname\]" || { echo "soname is not $soname"; exit 1; }
suffix=""
[ "$soname" = libcudart.so.13 ] && suffix="@@libcudart.so.13"
missing=$(sed "s/\$/$suffix/" "$list" | grep -vxFf "$found")
[ -z "$missing" ] || { echo "not exported:"; echo "$missing"; exit 1; }
echo "$(wc -l <"$list") exports present"
