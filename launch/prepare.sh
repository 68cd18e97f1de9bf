# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions shared by launch/quickstart and launch/test, which source this file in the root folder
# of the repository: messages, packages, building with progress.
# shellcheck disable=SC2034

build_packages=(g++ cmake ninja-build pkg-config python3 openmpi-bin libopenmpi-dev libucx-dev
  libhwloc-dev libboost-context-dev libcereal-dev libfmt-dev libcli11-dev nlohmann-json3-dev)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libtbb-dev libboost-fiber-dev relacy-dev
  ccache jq clang-16 libclang-rt-16-dev llvm-16 shellcheck python3-venv gdb libdw1
  pybind11-dev python3-dev nodejs doxygen)
# For the site of the documents.
docs_packages=(python3 python3-venv doxygen)
# To make packages, and to test them in a clean Debian.
package_packages=(dpkg-dev file git)
package_test_packages=(lintian mmdebstrap)
# For the tests on virtual hosts (containers or namespaces), which are skipped without them.
cluster_packages=(docker.io debootstrap iproute2 iptables)

step() { printf '\n== %s\n' "$*"; }

# give_up <what happened> <what to do>
give_up() {
  printf '\nFAILED: %s\n' "$1" >&2
  shift
  printf '  %s\n' "$@" >&2
  exit 1
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_missing <package>...: installs missing packages by apt, which needs root or sudo.
install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian or Ubuntu system: using the installed packages. Needed are: $*"
    return
  fi
  local missing=() package as_root=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  step "Installing ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "packages are missing, and installing them needs root" \
      "As root: apt-get install ${missing[*]}" "Then run this command again."
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -q || echo "apt-get update failed; trying with the present lists"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    give_up "apt-get could not install: ${missing[*]}" \
      "Is there a network? Does this release have these packages? (Debian 12 does.)" \
      "If a package is unavailable, install its equivalent and use cmake --preset release."
}

# install_tools <list>...: installs the Python packages of these files, which pin their versions,
# into build/tools, unless they are there.
install_tools() {
  local tools=build/tools list missing=()
  for list in "$@"; do
    cmp -s "$list" "$tools/installed/${list//\//_}" || missing+=("-r$list")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  step "Installing the packages of ${missing[*]#-r} into $tools"
  if ! { python3 -m venv $tools && $tools/bin/pip install --quiet "${missing[@]}"; }; then
    give_up "could not install the packages of ${missing[*]#-r} from PyPI" \
      "Is there a network? To run the tests without them: ctest --preset release -LE lint"
  fi
  mkdir -p $tools/installed
  for list in "$@"; do cp "$list" "$tools/installed/${list//\//_}"; done
}

# configure <preset> [cmake option...]
configure() {
  local preset=$1 log=build/$1-configure.log
  mkdir -p build
  step "Configuring preset $preset"
  if ! cmake --preset "$@" >"$log" 2>&1; then
    cat "$log" >&2
    give_up "cmake could not configure preset $preset (log: $log)" \
      "The message above says what is missing. If compilers or packages have changed:" \
      "rm -rf build/$preset, then run this command again."
  fi
}

# build <preset> [target...]: builds the targets, or all if none is named.
build() {
  local preset=$1 targets=() begin=$SECONDS
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  step "Building preset $preset${*:+ ($*)}"
  cmake --build --preset "$preset" "${targets[@]}" ||
    give_up "preset $preset does not build" \
      "The compiler's message is above. Out of memory? cmake --build --preset $preset -j1"
  echo "   built in $((SECONDS - begin)) s"
}
