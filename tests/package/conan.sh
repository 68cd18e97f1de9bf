#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Creates the package of Conan, and builds and runs a program with it, as
# packages/conan/test_package says. The libraries that it needs are those of this system, so that
# Conan downloads nothing.
#
#   conan.sh <conan> <folder>     the folder is for all that Conan writes
set -euo pipefail
conan=$(realpath "$1") folder=$(realpath -m "$2")
cd "$(dirname "$0")/../.."

export CONAN_HOME=$folder/home
mkdir -p "$folder"
"$conan" profile detect --force
"$conan" create packages/conan -s compiler.cppstd=20 -o 'apgas/*:system=True' \
  -c tools.cmake.cmake_layout:test_folder="$folder/test" \
  -c tools.cmake.cmaketoolchain:user_presets='' \
  -c tools.cmake.cmaketoolchain:extra_variables="{'CMAKE_UNITY_BUILD': 'ON'}"
