# SPDX-License-Identifier: Apache-2.0
"""The recipe for Conan 2, which packs the clone that it lies in: conan create packages/conan"""

import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Apgas(ConanFile):
    name = "apgas"
    description = "Asynchronous partitioned global address space for C++20"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "system": [True, False]}
    # system: hwloc, Boost, cereal, fmt and nlohmann_json of the operating system, as MPI always is
    default_options = {"shared": True, "system": False}

    def set_version(self):
        root = pathlib.Path(self.recipe_folder).parents[1]
        header = (root / "base/include/apgas/version.hpp").read_text(encoding="utf-8")
        self.version = re.search(r'define APGAS_VERSION_STRING "(.*)"', header)[1]

    def export_sources(self):
        root = pathlib.Path(self.recipe_folder).parents[1]
        for folder in ("base", "cmake", "comm", "launch", "places", "scheduler", "sync"):
            copy(self, f"{folder}/*", root, self.export_sources_folder, excludes="*__pycache__*")
        copy(self, "CMakeLists.txt", root, self.export_sources_folder)
        copy(self, "LICENSE", root, self.export_sources_folder)

    def requirements(self):
        if not self.options.system:
            self.requires("boost/[>=1.74]")
            self.requires("cereal/1.3.2", transitive_headers=True)
            self.requires("fmt/[>=9]")
            self.requires("hwloc/[>=2.9]")
            self.requires("nlohmann_json/[>=3]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "APPS", "BENCHMARKS"):
            toolchain.cache_variables[f"APGAS_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")

    def package_info(self):
        # The CMake package of apgas itself, which is the same however it was installed.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append("lib/cmake/apgas")
        self.cpp_info.libs = ["apgas"]
        self.buildenv_info.append_path("CMAKE_PREFIX_PATH", self.package_folder)
        self.runenv_info.append_path("PATH", f"{self.package_folder}/bin")
