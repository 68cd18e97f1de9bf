#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""launch/prepare.sh finds the names of packages and the package manager of each system. Package
managers are replaced by scripts that print their arguments, so that nothing is installed."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = 'set -e; source launch/prepare.sh; install_missing "${build_packages[@]}"'
FEDORA = ("dnf install -y gcc-c++ cmake ninja-build pkgconf-pkg-config python3 openmpi "
          "openmpi-devel ucx-devel hwloc-devel boost-devel cereal-devel fmt-devel cli11-devel "
          "json-devel")
ARCH = ("pacman -S --noconfirm --needed gcc cmake ninja pkgconf python openmpi openucx hwloc boost "
        "cereal fmt cli11 nlohmann-json")


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
        self.assertEqual(self.installed_by(), FEDORA)

    def test_arch(self):
        self.program("pacman", '[ "$1" != -Q ] && echo pacman $*')
        self.assertEqual(self.installed_by(), ARCH)

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
        lines = self.run_bash("launch/prepare.sh", "fedora").stdout.splitlines()
        self.assertEqual(lines[:2], ["# build_packages", FEDORA])
        self.assertNotIn("relacy-dev", " ".join(lines))
        arch = self.run_bash("launch/prepare.sh", "arch").stdout.splitlines()
        self.assertEqual(arch[1], ARCH)
        self.assertIn("pacman -S --noconfirm --needed go rust", arch)  # and no packaged crates
        ubuntu = self.run_bash("launch/prepare.sh", "ubuntu").stdout
        self.assertIn(" libdw1t64 ", ubuntu)
        self.assertNotIn(" libdw1 ", ubuntu)

    def test_an_unknown_system(self):
        done = self.run_bash("launch/prepare.sh", "suse")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no names of packages are known for: suse", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
