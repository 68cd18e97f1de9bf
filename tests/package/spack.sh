#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the package of Spack, and builds and runs a program with it. The libraries that it needs
# are those of Debian 12. Run it by hand: Spack is in no registry from which ./launch/package --test
# could install it.
#
#   spack.sh <spack> <folder>     spack: bin/spack in a clone of its repository; the folder is for
#                                 all that it writes. SPACK_PYTHON names a Python that has the
#                                 package clingo of PyPI, which Spack downloads otherwise
#
# Spack 1.0 and later also download the repository spack-packages and the archive of
# compiler-wrapper. Without a network, let repos.yaml and mirrors.yaml in etc/spack of the clone
# name folders that have them.
set -euo pipefail
spack=$(realpath "$1") folder=$(realpath -m "$2")
cd "$(dirname "$0")/../.."

rm -rf "$folder"
mkdir -p "$folder/config"
export SPACK_USER_CONFIG_PATH=$folder/config SPACK_USER_CACHE_PATH=$folder/cache
unset SPACK_DISABLE_LOCAL_CONFIG  # it would leave out the configuration of the folder
cat >"$folder/config/config.yaml" <<END
config: {install_tree: {root: $folder/installed}, build_stage: [$folder/stage]}
END
{
  echo 'packages:'
  echo '  all: {buildable: false}'
  echo '  apgas: {buildable: true}'
  for spec in boost@1.74.0+context cereal@1.3.2 cmake@3.25.1 fmt@9.1.0 hwloc@2.9.0 ninja@1.11.1 \
    nlohmann-json@3.11.2 openmpi@4.1.4 pkgconf@1.8.1 python@3.11.2 ucx@1.13.1; do
    echo "  ${spec%@*}: {externals: [{spec: $spec, prefix: /usr}]}"
  done
} >"$folder/config/packages.yaml"

git clone --quiet --shared . "$folder/source"
repository=packages/spack/spack_repo/apgas
cp -r "$repository/." "$folder/source/$repository"  # with changes that are not committed
"$spack" compiler find
"$spack" repo add "$folder/source/$repository"
"$spack" info apgas
for variants in '' ~mpi ~ucx ~shared ~mpi~shared %clang@16; do
  "$spack" spec "apgas@0.1.0$variants" | grep '   apgas'
done
for variants in ~mpi+ucx %gcc@11; do
  if "$spack" spec "apgas@0.1.0$variants"; then
    echo "spack.sh: Spack accepts apgas$variants" >&2
    exit 1
  fi
done
"$spack" dev-build -d "$folder/source" apgas@0.1.0

prefix=$("$spack" location -i apgas)
cmake -S packages/conan/test_package -B "$folder/program" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$folder/program"
APGAS_PLACES=2 "$folder/program/program"
"$prefix/bin/apgas-run" --help >"$folder/apgas-run.txt"
echo "The package works"
