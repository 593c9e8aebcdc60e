#!/usr/bin/env bash
# Installs what this machine lacks: Debian packages, and NVIDIA's compiler where no nvcc of 13.0 or newer is found.
# Says what it does. Does nothing, and asks the network nothing, where all is there.
# With --fuzz also clang, which brings libFuzzer.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
prefix=$root/build/cuda
wheels=$here/cuda_wheels.txt

say() { echo "set-up: $*"; }
fail() {
  echo "set-up: $1" >&2
  echo "set-up: way out: $2" >&2
  exit 1
}

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# install_packages NAME...: those of them that are missing, as root or through sudo.
install_packages() {
  local missing=() name
  for name in "$@"; do is_installed "$name" || missing+=("$name"); done
  ((${#missing[@]})) || return 0
  local as_root=() how=""
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      fail "these packages are missing and there is no sudo: ${missing[*]}" \
           "as root: apt-get install ${missing[*]}"
    as_root=(sudo)
    how=" with sudo"
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  say "installing Debian packages$how: ${missing[*]}"
  local log
  log=$(mktemp)
  "${as_root[@]}" apt-get update -qq 2>"$log" || {
    cat "$log" >&2
    fail "apt-get update failed; wanted: ${missing[*]}" "check the network and /etc/apt/sources.list, then: make setup"
  }
  for name in "${missing[@]}"; do
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 "$name" >"$log" 2>&1 || {
      cat "$log" >&2
      fail "package $name did not install" "mend what apt-get says above, then: make setup"
    }
  done
  rm -f "$log"
}

packages() { sed 's/#.*//' "$here/packages.txt" | awk 'NF { print $1 }'; }

set_up_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian or Ubuntu system: install the likes of $(packages | tr '\n' ' ')yourself"
    return
  fi
  # shellcheck disable=SC2046  # one word per package
  install_packages $(packages)
}

# NVIDIA's wheels share one tree, nvidia/cu13, which is laid out as a toolkit; it becomes build/cuda.
install_wheels() {
  [[ $(uname -m) == x86_64 ]] || fail "NVIDIA's compiler wheels are listed for x86_64 only, this is $(uname -m)" \
                                      "install CUDA Toolkit 13.0 or newer, or set NVCC=/path/to/nvcc"
  say "no nvcc of 13.0 or newer: installing NVIDIA's compiler wheels (130 MB) into build/cuda"
  if ! python3 -m venv --help >/dev/null 2>&1 || ! python3 -c 'import ensurepip' 2>/dev/null; then
    command -v dpkg-query >/dev/null || fail "python3 has no venv module" "install it, then: make setup"
    install_packages python3 python3-venv
  fi
  local work=$root/build/cuda.part
  rm -rf "$work" "$prefix"
  mkdir -p "$work"
  python3 -m venv "$work/venv" || fail "python3 -m venv failed" "apt-get install python3-venv; then: make setup"
  local pip=("$work/venv/bin/pip" --disable-pip-version-check --retries 1 --quiet) wheel
  while read -r wheel; do
    say "  ${wheel%% *}"
    echo "$wheel" >"$work/wheel.txt"
    "${pip[@]}" download --no-deps --only-binary :all: --require-hashes -d "$work" -r "$work/wheel.txt" ||
      fail "wheel ${wheel%% *} could not be fetched" \
           "check the network, then: make setup; or install CUDA Toolkit 13.0 or newer and set NVCC=/path/to/nvcc"
  done < <(grep -v '^#' "$wheels")
  "${pip[@]}" install --no-deps --no-index --target "$work/tree" "$work"/*.whl ||
    fail "the wheels of tools/setup/cuda_wheels.txt did not install" "make room on the disk, then: make setup"
  mv "$work/tree/nvidia/cu13" "$prefix"
  # What a toolkit has and the wheels leave to the user: the linker's name of the runtime, and lib64.
  ln -sf libcudart.so.13 "$prefix/lib/libcudart.so"
  ln -sfn lib "$prefix/lib64"
  cp "$wheels" "$prefix/wheels.txt"
  rm -rf "$work"
}

# A kernel of three lines shows that the compiler's parts fit together.
check_nvcc() {
  local nvcc=$1 work
  work=$(mktemp -d)
  echo '__global__ void store(int* p) { *p = 1; asm volatile("tcgen05.fence::before_thread_sync;"); }' >"$work/try.cu"
  "$nvcc" -gencode arch=compute_100a,code='[sm_100a,compute_100a]' -std=c++20 -c "$work/try.cu" -o "$work/try.o" \
    >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    rm -rf "$work"
    fail "$nvcc cannot compile a small kernel for sm_100a" \
         "mend that CUDA Toolkit, or hide it: WORKBOOK_HIDE_NVCC=1 make setup"
  }
  rm -rf "$work"
}

set_up_nvcc() {
  local nvcc stamp=$root/build/nvcc.checked
  if ! nvcc=$("$here/find_nvcc.sh" 2>/dev/null) || { [[ $nvcc == "$prefix"/* ]] && ! cmp -s "$wheels" "$prefix/wheels.txt"; }; then
    "$here/find_nvcc.sh" >/dev/null || true  # now for its reasons
    [[ -z ${NVCC:-} ]] || fail "NVCC=$NVCC is no nvcc of 13.0 or newer" "unset NVCC, or point it at one"
    install_wheels
    nvcc=$("$here/find_nvcc.sh") || fail "build/cuda holds no working nvcc" "rm -r build/cuda; make setup"
  fi
  [[ -f $stamp && $(<"$stamp") == "$nvcc" ]] && return
  check_nvcc "$nvcc"
  mkdir -p "$root/build"
  echo "$nvcc" >"$stamp"
  say "nvcc is $nvcc, $("$nvcc" --version | sed -n 's/.*release \([^,]*\),.*/\1/p')"
}

case ${1:-} in
  "") ;;
  --fuzz) install_packages clang libclang-rt-dev ;;
  --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
  *) echo "setup.sh: unknown argument $1" >&2; exit 2 ;;
esac
set_up_packages
set_up_nvcc
