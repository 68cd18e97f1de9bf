# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F403, F405
"""The recipe for Spack 1.0 or later, whose package API is v2, and for the versions before it."""

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
except ImportError:
    pass  # before Spack 1.0, spack.package has both


class Apgas(CMakePackage):
    """Asynchronous partitioned global address space for C++20: places, work-stealing tasks, finish,
    clocks and phasers, as in X10."""

    # There is no public archive yet: `spack develop` or `spack dev-build` builds a clone.
    version("0.1.0")

    license("Apache-2.0")

    variant("mpi", default=True, description="Several processes, started by an MPI launcher")
    variant("ucx", default=True, when="+mpi", description="The transport ucx")
    variant("shared", default=True, description="A shared library")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("boost@1.74:+context")
    depends_on("cereal")
    depends_on("fmt@9:")
    depends_on("nlohmann-json")
    depends_on("mpi", when="+mpi")
    depends_on("ucx@1.12:", when="+ucx")
    depends_on("python@3.11:", type="run")

    conflicts("%gcc@:11", msg="apgas needs g++ 12 or later")
    conflicts("%clang@:15", msg="apgas needs clang 16 or later")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("APGAS_WITH_MPI", "mpi"),
            self.define_from_variant("APGAS_WITH_UCX", "ucx"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("CMAKE_UNITY_BUILD", True),  # takes a fifth of the time
            self.define("APGAS_BUILD_TESTS", False),
            self.define("APGAS_BUILD_APPS", False),
            self.define("APGAS_BUILD_BENCHMARKS", False),
        ]
