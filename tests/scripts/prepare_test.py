#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""launch/prepare.sh finds the names of packages and the package manager of each system. Package
managers are replaced by scripts that print their arguments, so that nothing is installed. The
presets that need clang take the one that is there, which cmake/clang.cmake finds."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = 'set -e; source launch/prepare.sh; install_missing "${build_packages[@]}"'
# For each system: the command, and the packages of each group in the order of print_installation.
COMMANDS = {
    "ubuntu": "env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends",
    "fedora": "dnf install -y",
    "arch": "pacman -S --noconfirm --needed",
}
PACKAGES = {
    "ubuntu": {
        "build": """g++ cmake ninja-build pkg-config python3 openmpi-bin libopenmpi-dev libucx-dev
            libhwloc-dev libboost-context-dev libcereal-dev libfmt-dev libcli11-dev
            nlohmann-json3-dev""",
        "test": """libgtest-dev libgmock-dev libbenchmark-dev libtbb-dev libboost-fiber-dev
            relacy-dev ccache jq clang-16 libclang-rt-16-dev llvm-16 shellcheck python3-venv gdb
            libdw1t64 linux-tools-generic pybind11-dev python3-dev nodejs doxygen""",
        "moving": "golang-go cargo librust-tokio-dev",
        "docs": "python3 python3-venv doxygen",
        "site_test": "",  # Chromium is only a snap
        "package": "dpkg-dev file git",
        "package_test": "lintian mmdebstrap rpm",
        "portability": """libc++-16-dev libc++abi-16-dev mmdebstrap debian-archive-keyring
            g++-aarch64-linux-gnu qemu-user-static""",
        "cluster": "docker.io docker-compose debootstrap iproute2 iptables",
    },
    "fedora": {
        "build": """gcc-c++ cmake ninja-build pkgconf-pkg-config python3 openmpi openmpi-devel
            ucx-devel hwloc-devel boost-devel cereal-devel fmt-devel cli11-devel json-devel""",
        "test": """gtest-devel gmock-devel google-benchmark-devel tbb-devel boost-devel ccache jq
            clang compiler-rt llvm ShellCheck python3 gdb elfutils-libs perf pybind11-devel
            python3-devel nodejs doxygen""",
        "moving": "golang cargo rust-tokio-devel",
        "docs": "python3 doxygen",
        "site_test": "chromium",
        "package": "dpkg-dev file git",
        "package_test": "mmdebstrap rpm-build",
        "portability": """libcxx-devel libcxxabi-devel mmdebstrap debian-archive-keyring
            gcc-c++-aarch64-linux-gnu qemu-user-static""",
        "cluster": "moby-engine docker-compose debootstrap iproute iptables-nft",
    },
    "arch": {
        "build": """gcc cmake ninja pkgconf python openmpi openucx hwloc boost cereal fmt cli11
            nlohmann-json""",
        "test": """gtest benchmark onetbb boost ccache jq clang compiler-rt llvm shellcheck python
            gdb libelf perf pybind11 nodejs doxygen""",
        "moving": "go rust",  # and no packaged crates
        "docs": "python doxygen",
        "site_test": "chromium",
        "package": "dpkg file git",
        "package_test": "rpm-tools",
        "portability": """libc++ libc++abi debian-archive-keyring aarch64-linux-gnu-gcc
            qemu-user-static""",
        "cluster": "docker docker-compose debootstrap iproute2 iptables",
    },
}
CLANG = "include(cmake/clang.cmake)\nmessage(${CMAKE_C_COMPILER}:${CMAKE_CXX_COMPILER})\n"


def command(system, group):
    return " ".join([COMMANDS[system], *PACKAGES[system][group].split()])


class Prepare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        for tool in ("bash", "env", "grep"):
            (self.path / tool).symlink_to(shutil.which(tool))
        self.program("id", "echo 0")

    def program(self, name, text):
        (self.path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (self.path / name).chmod(0o755)

    def run_bash(self, *arguments):
        return subprocess.run([shutil.which("bash"), *arguments], cwd=ROOT, capture_output=True,
                              text=True, check=False, env={"PATH": str(self.path)})

    def installed_by(self, script=BUILD):
        done = self.run_bash("-c", script)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.splitlines()[-1]

    def test_fedora(self):
        self.program("rpm", "false")
        self.program("dnf", "echo dnf $*")
        self.assertEqual(self.installed_by(), command("fedora", "build"))

    def test_arch(self):
        self.program("pacman", '[ "$1" != -Q ] && echo pacman $*')
        self.assertEqual(self.installed_by(), command("arch", "build"))

    def test_only_what_is_missing(self):
        self.program("rpm", '[ "$2" != cmake ]')
        self.program("dnf", "echo dnf $*")
        self.assertEqual(self.installed_by(), "dnf install -y cmake")

    def test_debian(self):
        self.program("dpkg-query", "false")
        self.program("apt-get", "echo apt-get $*")
        found = self.installed_by()
        self.assertTrue(found.startswith("apt-get install -y -q --no-install-recommends g++ cmake"),
                        found)

    def test_none_of_these(self):
        found = self.installed_by()
        self.assertIn("No apt-get, dnf or pacman: using what is installed.", found)
        done = self.run_bash("launch/prepare.sh")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED: this system has no apt-get, dnf or pacman", done.stderr)

    def test_what_cannot_be_installed(self):
        self.program("rpm", "false")
        self.program("dnf", "false")
        done = self.run_bash("-c", BUILD)
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED: could not install: gcc-c++ cmake", done.stderr)

    def test_without_root(self):
        self.program("id", "echo 1000")
        self.program("rpm", '[ "$2" != cmake ]')
        self.program("dnf", "echo dnf $*")
        done = self.run_bash("-c", BUILD)
        self.assertEqual(done.returncode, 1)
        self.assertIn("As root: dnf install -y cmake", done.stderr)

    def test_the_commands_of_another_system(self):
        for system, groups in PACKAGES.items():
            with self.subTest(system):
                wanted = [line for group, packages in groups.items() for line in
                          [f"# {group}_packages", *[command(system, group)] * bool(packages)]]
                printed = self.run_bash("launch/prepare.sh", system).stdout
                self.assertEqual(printed.splitlines(), wanted)

    def test_an_unknown_argument_is_refused_in_one_line(self):
        (self.path / "dirname").symlink_to(shutil.which("dirname"))
        for script in "test", "docs", "package", "quickstart":
            done = self.run_bash(f"launch/{script}", "--none")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "^FAILED: unknown .*: --none[.] "
                             rf"Usage: ./launch/{script} .*\n$")
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))

    def test_an_unknown_system(self):
        done = self.run_bash("launch/prepare.sh", "suse")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no names of packages are known for: suse", done.stderr)


class Clang(unittest.TestCase):
    def found(self, *programs):
        """What cmake/clang.cmake chooses if these programs are in PATH, or its error."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            for name in programs:
                (path / name).write_text("#!/bin/sh\n", encoding="utf-8")
                (path / name).chmod(0o755)
            script = path / "script.cmake"
            script.write_text(CLANG.replace("cmake/", f"{ROOT}/cmake/"), encoding="utf-8")
            done = subprocess.run([shutil.which("cmake"), "-P", script], capture_output=True,
                                  text=True, check=False, env={"PATH": folder})
            return done.stderr.replace(f"{folder}/", "").strip()

    def test_version_16_comes_before_the_clang_of_the_system(self):
        both = "clang", "clang++", "clang-16", "clang++-16"
        self.assertEqual(self.found(*both), "clang-16:clang++-16")
        self.assertEqual(self.found("clang", "clang++"), "clang:clang++")
        self.assertIn("clang is not installed", self.found("clang"))

    def test_each_preset_that_needs_clang_asks_for_it(self):
        text = (ROOT / "CMakePresets.json").read_text(encoding="utf-8")
        self.assertNotIn("clang-16", text)
        self.assertNotIn("_COMPILER\"", text)
        presets = {each["name"]: each for each in json.loads(text)["configurePresets"]}

        def toolchain(name):
            parent = presets[name].get("inherits")
            return presets[name].get("toolchainFile") or (parent and toolchain(parent))

        for name in "asan", "tsan", "fuzz", "clang", "libcxx":
            self.assertEqual(toolchain(name), "${sourceDir}/cmake/clang.cmake", name)
        self.assertIsNone(toolchain("release"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
