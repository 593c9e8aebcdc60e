#!/bin/sh
# check_emu.sh EMU LIBRARIES COMPILER: the command from outside, with the given libraries beside it.
emu=$1 libraries=$2 compiler=$3
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cp "$emu" "$work/emu" && ln -s "$libraries" "$work/lib" || exit 1

fail() { echo "FAILED: $1"; cat "$work/out" "$work/err"; exit 1; }
try() { "$work/emu" "$@" >"$work/out" 2>"$work/err"; code=$?; }

try -- /bin/sh -c 'exit 7'
[ $code -eq 7 ] || fail "the exit code passes through"
try --machine h200 --jitter 5 -- /bin/sh -c 'echo "$EMU_OPTIONS $LD_LIBRARY_PATH"'
grep -q '"jitter":5' "$work/out" && grep -q '"machine":"h200"' "$work/out" || fail "options reach the program"
grep -q "$(readlink -f "$libraries")" "$work/out" || fail "the library path reaches the program"
try --bogus -- /bin/true
[ $code -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "an unknown option is refused in one line"
try -- /no/such/program
[ $code -eq 2 ] && grep -q "program not found: /no/such/program" "$work/err" || fail "a missing program is named"
touch "$work/data" && try -- "$work/data"
[ $code -eq 2 ] && grep -q "not executable" "$work/err" || fail "a file without the x bit is named"

# A program with device code and no libcudart.so.13 is one with the static runtime.
cat >"$work/static.c" <<END
__attribute__((section(".nv_fatbin"))) int device_code = 1;
int main(void) { return 0; }
END
"$compiler" -x c "$work/static.c" -o "$work/static" && try -- "$work/static"
[ $code -eq 2 ] && grep -q "rebuild it with -cudart shared" "$work/err" || fail "the static runtime is named"

rm "$work/lib" && try -- /bin/true
[ $code -eq 2 ] && grep -q "libcudart.so.13 not found" "$work/err" || fail "missing libraries are named"
echo "emu behaves"
