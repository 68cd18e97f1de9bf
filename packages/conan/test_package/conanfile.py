# SPDX-License-Identifier: Apache-2.0
"""Builds a program with the package, and runs it on two places."""

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain", "CMakeDeps", "VirtualRunEnv"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            program = f"{self.cpp.build.bindir}/program"
            self.run(f"APGAS_TRANSPORT=local APGAS_PLACES=2 {program}", env="conanrun")
