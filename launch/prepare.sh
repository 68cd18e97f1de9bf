# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions shared by the scripts of this folder, which source this file in the root folder of the
# repository: messages, packages, building with progress. Run as a program, it prints the commands
# that install all packages, and installs nothing:
#   bash launch/prepare.sh [debian, ubuntu, fedora or arch]     default: this system
# shellcheck disable=SC2034

build_packages=(g++ cmake ninja-build pkg-config python3 openmpi-bin libopenmpi-dev libucx-dev
  libhwloc-dev libboost-context-dev libcereal-dev libfmt-dev libcli11-dev nlohmann-json3-dev)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libtbb-dev libboost-fiber-dev relacy-dev
  ccache jq clang-16 libclang-rt-16-dev llvm-16 shellcheck python3-venv gdb libdw1
  linux-perf pybind11-dev python3-dev nodejs doxygen)
# For the programs of other systems in docs/moving, unless Go and Rust are there without packages.
moving_packages=(golang-go cargo librust-tokio-dev)
# For the site of the documents.
docs_packages=(python3 python3-venv doxygen)
# To open each page of the site in a browser.
site_test_packages=(chromium)
# To make packages, and to test them in a clean Debian.
package_packages=(dpkg-dev file git)
package_test_packages=(lintian mmdebstrap rpm)
# To build with libc++, for another processor and with compilers of another Debian.
portability_packages=(libc++-16-dev libc++abi-16-dev mmdebstrap debian-archive-keyring
  g++-aarch64-linux-gnu qemu-user-static)
# For the tests on virtual hosts (containers or namespaces), which are skipped without them.
cluster_packages=(docker.io docker-compose debootstrap iproute2 iptables)

step() { printf '\n== %s\n' "$*"; }

# give_up <what happened> <what to do>
give_up() {
  printf '\nFAILED: %s\n' "$1" >&2
  shift
  printf '  %s\n' "$@" >&2
  exit 1
}

# refuse <what is wrong with the arguments> <what is right>: as give_up, in one line.
refuse() {
  printf 'FAILED: %s. %s\n' "$1" "$2" >&2
  exit 1
}

# Debian's names of the packages above, and those of other systems where they differ; - is for a
# package that a system lacks. Ubuntu's are those of 24.04.
# Debian              Ubuntu      Fedora                 Arch
other_names='
g++                   =           gcc-c++                gcc
ninja-build           =           =                      ninja
pkg-config            =           pkgconf-pkg-config     pkgconf
python3               =           =                      python
openmpi-bin           =           openmpi                openmpi
libopenmpi-dev        =           openmpi-devel          openmpi
libucx-dev            =           ucx-devel              openucx
libhwloc-dev          =           hwloc-devel            hwloc
libboost-context-dev  =           boost-devel            boost
libcereal-dev         =           cereal-devel           cereal
libfmt-dev            =           fmt-devel              fmt
libcli11-dev          =           cli11-devel            cli11
nlohmann-json3-dev    =           json-devel             nlohmann-json
libgtest-dev          =           gtest-devel            gtest
libgmock-dev          =           gmock-devel            gtest
libbenchmark-dev      =           google-benchmark-devel benchmark
libtbb-dev            =           tbb-devel              onetbb
libboost-fiber-dev    =           boost-devel            boost
relacy-dev            =           -                      -
clang-16              =           clang                  clang
libclang-rt-16-dev    =           compiler-rt            compiler-rt
llvm-16               =           llvm                   llvm
libc++-16-dev         =           libcxx-devel           libc++
libc++abi-16-dev      =           libcxxabi-devel        libc++abi
shellcheck            =           ShellCheck             =
python3-venv          =           python3                python
libdw1                libdw1t64   elfutils-libs          libelf
linux-perf       linux-tools-generic perf                perf
pybind11-dev          =           pybind11-devel         pybind11
python3-dev           =           python3-devel          python
chromium              -           =                      =
dpkg-dev              =           =                      dpkg
lintian               =           -                      -
mmdebstrap            =           =                      -
rpm                   =           rpm-build              rpm-tools
debian-archive-keyring =          =                      =
g++-aarch64-linux-gnu =           gcc-c++-aarch64-linux-gnu aarch64-linux-gnu-gcc
qemu-user-static      =           =                      =
golang-go             =           golang                 go
cargo                 =           =                      rust
librust-tokio-dev     =           rust-tokio-devel       -
docker.io             =           moby-engine            docker
iproute2              =           iproute                =
iptables              =           iptables-nft           =
'

# names_for <system> <package>...: prints the names of Debian's packages in another system, a line
# each; packages that the system lacks are left out.
names_for() {
  local system=$1 column=0 package name words printed=' '
  case $system in ubuntu) column=1 ;; fedora) column=2 ;; arch) column=3 ;; esac
  shift
  for package in "$@"; do
    name=$package
    while read -r -a words; do
      [ "${words[0]-}" != "$package" ] || [ "${words[column]}" = = ] || name=${words[column]}
    done <<<"$other_names"
    if [ "$name" = - ] || [[ $printed = *" $name "* ]]; then continue; fi
    printed+="$name "
    echo "$name"
  done
}

# The system whose names and package manager are used: debian, ubuntu, fedora, arch or none.
find_system() {
  if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    if grep -qs '^ID=ubuntu' /etc/os-release; then echo ubuntu; else echo debian; fi
  elif command -v dnf >/dev/null; then
    echo fedora
  elif command -v pacman >/dev/null; then
    echo arch
  else
    echo none
  fi
}

# is_installed <system> <package>
is_installed() {
  case $1 in
    fedora) rpm -q "$2" >/dev/null 2>&1 ;;
    arch) pacman -Q "$2" >/dev/null 2>&1 ;;
    *) [ "$(dpkg-query -W -f='${db:Status-Status}' "$2" 2>/dev/null)" = installed ] ;;
  esac
}

# install_command <system>: sets `install` to the command that installs packages.
install_command() {
  case $1 in
    fedora) install=(dnf install -y) ;;
    arch) install=(pacman -S --noconfirm --needed) ;;
    *) install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends) ;;
  esac
}

# install_missing <package>...: installs missing packages, given by Debian's names, with the package
# manager of this system, which needs root or sudo.
install_missing() {
  local system wanted missing=() package as_root=() install
  system=$(find_system)
  if [ "$system" = none ]; then
    echo "No apt-get, dnf or pacman: using what is installed. Debian's names of what is needed: $*"
    return
  fi
  mapfile -t wanted < <(names_for "$system" "$@")
  for package in "${wanted[@]}"; do
    is_installed "$system" "$package" || missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  step "Installing ${missing[*]}"
  install_command "$system"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "packages are missing, and installing them needs root" \
      "As root: ${install[*]} ${missing[*]}" "Then run this command again."
    as_root=(sudo)
  fi
  case $system in
    debian | ubuntu)
      "${as_root[@]}" apt-get update -q ||
        echo "apt-get update failed; trying with the present lists" ;;
  esac
  "${as_root[@]}" "${install[@]}" "${missing[@]}" ||
    give_up "could not install: ${missing[*]}" \
      "Is there a network? Does this release have these packages? (Debian 12 does.)" \
      "If a package is unavailable, install its equivalent and use cmake --preset release."
}

# Fedora installs mpirun outside of PATH, where only `module load mpi` finds it.
if [ -d /usr/lib64/openmpi/bin ] && ! command -v mpirun >/dev/null; then
  PATH=$PATH:/usr/lib64/openmpi/bin
fi

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

# print_installation [system]
print_installation() {
  local system=${1:-$(find_system)} group wanted install
  case $system in
    debian | ubuntu | fedora | arch) ;;
    none) refuse "this system has no apt-get, dnf or pacman" \
      "Name a system: debian, ubuntu, fedora or arch" ;;
    *) refuse "no names of packages are known for: $system" \
      "Known are debian, ubuntu, fedora and arch" ;;
  esac
  install_command "$system"
  for group in build test moving docs site_test package package_test portability cluster; do
    declare -n packages=${group}_packages
    mapfile -t wanted < <(names_for "$system" "${packages[@]}")
    echo "# ${group}_packages"
    [ "${#wanted[@]}" -eq 0 ] || echo "${install[*]} ${wanted[*]}"
  done
}
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  print_installation "$@"
fi
