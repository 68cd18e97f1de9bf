#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks the packages of Debian 12 for aarch64 that the build needs into build/aarch64-root, unless
# they are there. aarch64.cmake compiles against them, and QEMU's user mode runs the tests with
# their libraries. Needs root.
#
#   aarch64_root.sh        $MIRROR selects a mirror of Debian
set -euo pipefail
cd "$(dirname "$0")/../.."

root=build/aarch64-root
packages=libc6-dev,libstdc++-12-dev,libhwloc-dev,libboost-context-dev,libcereal-dev,libfmt-dev
packages+=,libcli11-dev,nlohmann-json3-dev,libgtest-dev,libgmock-dev,relacy-dev
[ "$(cat $root/packages 2>/dev/null)" != "$packages" ] || exit 0
rm -rf $root
mkdir -p build
mmdebstrap --quiet --arch=arm64 --variant=extract --include="$packages" bookworm $root \
  ${MIRROR:+"$MIRROR"}
echo "$packages" >$root/packages
