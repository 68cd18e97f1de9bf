#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the port of vcpkg, and builds and runs a program with it. The libraries that it needs are
# those of this system: their ports are replaced by empty ones, so that vcpkg downloads nothing.
# Run it by hand: vcpkg is in no registry from which ./launch/package --test could install it.
#
#   vcpkg.sh <vcpkg> <folder>     vcpkg: the program, in a clone of its repository; the folder is
#                                 for all that it writes
set -euo pipefail
vcpkg=$(realpath "$1") folder=$(realpath -m "$2")
cd "$(dirname "$0")/../.."

for port in boost-context cereal fmt hwloc mpi nlohmann-json; do
  mkdir -p "$folder/ports/$port"
  echo "{\"name\": \"$port\", \"version\": \"0\"}" >"$folder/ports/$port/vcpkg.json"
  echo 'set(VCPKG_POLICY_EMPTY_PACKAGE enabled)' >"$folder/ports/$port/portfile.cmake"
done
mkdir -p "$folder/triplets"
cat >"$folder/triplets/release.cmake" <<'END'
set(VCPKG_TARGET_ARCHITECTURE x64)
set(VCPKG_CRT_LINKAGE dynamic)
set(VCPKG_LIBRARY_LINKAGE static)
set(VCPKG_CMAKE_SYSTEM_NAME Linux)
set(VCPKG_BUILD_TYPE release)
set(VCPKG_FIXUP_ELF_RPATH OFF)  # would download patchelf
set(VCPKG_CMAKE_CONFIGURE_OPTIONS -DCMAKE_UNITY_BUILD=ON)
END

export VCPKG_FORCE_SYSTEM_BINARIES=1 VCPKG_DISABLE_METRICS=1
export VCPKG_ROOT=${vcpkg%/*}
"$vcpkg" install 'apgas[mpi]' --triplet release --binarysource=clear --enforce-port-checks \
  --overlay-ports=packages/vcpkg/ports --overlay-ports="$folder/ports" \
  --overlay-triplets="$folder/triplets" --x-install-root="$folder/installed" \
  --x-buildtrees-root="$folder/buildtrees" --x-packages-root="$folder/packages" \
  --downloads-root="$folder/downloads"

cmake -S packages/conan/test_package -B "$folder/program" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_TOOLCHAIN_FILE="$VCPKG_ROOT/scripts/buildsystems/vcpkg.cmake" \
  -DVCPKG_TARGET_TRIPLET=release -DVCPKG_OVERLAY_TRIPLETS="$folder/triplets" \
  -DVCPKG_INSTALLED_DIR="$folder/installed"
cmake --build "$folder/program"
APGAS_PLACES=2 "$folder/program/program"
"$folder/installed/release/tools/apgas/apgas-run" --help >"$folder/apgas-run.txt"
echo "The port works"
