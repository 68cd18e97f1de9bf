#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library and two programs with the compilers of Debian 13 (g++ 13 and 14, and clang 19
# with its own standard library), and runs the programs on two places there. Debian 12 has neither.
# The root of that Debian is kept in build/trixie-root. Needs to run as root, for chroot.
#
#   compilers.sh [compiler]...        g++-13, g++-14, libc++: all by default; $MIRROR selects a
#                                     mirror of Debian
# shellcheck disable=SC2016  # the shells inside expand these scripts
set -euo pipefail
cd "$(dirname "$0")/../.."

root=build/trixie-root
packages=g++-13,g++-14,clang-19,libc++-19-dev,libc++abi-19-dev,cmake,ninja-build,pkg-config,python3
packages+=,openmpi-bin,libopenmpi-dev,libucx-dev,libhwloc-dev,libboost-context-dev,libcereal-dev
packages+=,libfmt-dev,libcli11-dev,nlohmann-json3-dev
if [ "$(cat $root/packages 2>/dev/null)" != "$packages" ]; then
  rm -rf $root
  mmdebstrap --quiet --variant=apt --include="$packages" trixie $root ${MIRROR:+"$MIRROR"}
  mkdir $root/source $root/build
  echo "$packages" >$root/packages
fi

# in_root <script> <argument>...: runs a script for bash there, with the repository in /source. The
# mounts end with its namespace.
in_root() {
  unshare --mount --pid --fork --mount-proc=$root/proc --kill-child sh -euc '
    mount --bind /sys "$0/sys"
    mount --rbind /dev "$0/dev"
    mount --bind -o ro . "$0/source"
    exec chroot "$0" bash -euc "$@"' $root "$@"
}

# build_and_run <name> <C++ compiler> <C compiler> <flags>
build_and_run() {
  echo "== Debian 13, $1"
  in_root '
    cmake -S /source -B "/build/$0" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
      -DCMAKE_CXX_COMPILER="$1" -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_FLAGS="$3" \
      -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DAPGAS_BUILD_TESTS=OFF -DAPGAS_BUILD_BENCHMARKS=OFF
    ninja -C "/build/$0" hello uts
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    for program in hello uts; do
      APGAS_TRANSPORT=local APGAS_PLACES=2 timeout 60 "/build/$0/apps/$program"
      timeout 60 mpirun --oversubscribe -n 2 "/build/$0/apps/$program"
    done' "$@"
}

[ $# -gt 0 ] || set -- g++-13 g++-14 libc++
for each in "$@"; do
  case $each in
    g++-*) build_and_run "$each" "$each" "gcc${each#g++}" "" ;;
    libc++) build_and_run libc++ clang++-19 clang-19 -stdlib=libc++ ;;
    *)
      echo "compilers.sh: there is no compiler $each, only g++-13, g++-14 and libc++" >&2
      exit 2 ;;
  esac
done
