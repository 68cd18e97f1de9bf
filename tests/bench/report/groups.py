# SPDX-License-Identifier: Apache-2.0
"""The groups of benchmarks that a report consists of, and what this host lacks for them."""

import re
import shutil
from dataclasses import dataclass

import papers
import pbbs
import programs
import runtimes
import sizes
import threads


@dataclass
class Group:
    """What --only names: its title, its commands, and its peers by their names in LIBRARIES."""
    title: str
    commands: object
    peers: tuple = ()
    notes: object = lambda build: []  # maps the build folder to lines about what is left out
    over_places: bool = False         # its commands run at each of the numbers of places
    by_default: bool = True           # measured without --only


# The peers that are built into our programs: the variable of CMakeCache.txt that says whether
# CMake has found each, and what apt installs.
LIBRARIES = {
    "oneTBB": ("TBB_DIR", "libtbb-dev"),
    "std::execution::par": ("TBB_DIR", "libtbb-dev"),
    "OpenMP": ("OpenMP_CXX_FLAGS", "libgomp1, or libomp-dev for clang"),
    "Boost.Fiber": ("boost_fiber_DIR", "libboost-fiber-dev"),
    "Java's Phaser": ("Java_JAVAC_EXECUTABLE", "default-jdk-headless"),
    "UCX": ("ucx_FOUND", "libucx-dev"),
}
GROUPS = {
    "spawn": Group("Spawning tasks within a place",
                   programs.within_a_place("spawn_bench", (45, 5)),
                   ("oneTBB", "OpenMP", "Boost.Fiber")),
    "sync": Group("Clocks, phasers and barriers", programs.within_a_place("sync_bench", (150, 30)),
                  ("OpenMP", "Boost.Fiber", "Java's Phaser")),
    "algorithm": Group("Parallel algorithms",
                       programs.within_a_place("algorithm_bench", (60, 5), 5),
                       ("std::execution::par", "OpenMP")),
    # Two places exchange messages, while the others sleep. A single place exchanges them with
    # itself, in a process without MPI.
    "place": Group("Messages between two places, or within one",
                   programs.over_places("place_bench", (30, 10), ("--transport", "local")),
                   ("UCX",), over_places=True),
    "rma": Group("One-sided access to the memory of another place, or of the same one",
                 programs.over_places("rma_bench", (30, 10), ("--transport", "local")),
                 ("UCX",), over_places=True),
    "team": Group("Collective operations, finish and clocks over places",
                  programs.over_places("team_bench", (30, 10)), over_places=True),
    "programs": Group("Programs beside plain MPI, and within a place beside OpenMP and oneTBB",
                      threads.commands, ("oneTBB", "OpenMP"), over_places=True),
    "pbbs": Group("Kernels of the Problem Based Benchmark Suite, beside OpenMP and oneTBB",
                  pbbs.commands, ("oneTBB", "OpenMP")),
    "peers": Group("A spawn, and a barrier by number of tasks, beside all peers",
                   runtimes.commands, ("oneTBB", "OpenMP", "Boost.Fiber", "Java's Phaser"),
                   notes=lambda build: runtimes.prepare(build)[1]),
    "papers": Group("The figures of the papers", papers.commands, ("oneTBB", "OpenMP")),
    "speed-up": Group("Speed-up of programs", programs.speed_up, over_places=True),
    "sizes": Group("The programs of the papers in their published sizes", sizes.commands,
                   ("oneTBB", "OpenMP"), by_default=False),
}


def possible(name, commands):
    """Those commands of a group that this host can start, and a line about the others, if any."""
    without = [command for command in commands if not command.mpi]
    if len(without) == len(commands) or shutil.which("mpirun") or shutil.which("mpiexec"):
        return commands, []
    what = "is measured without what needs MPI" if without else "is skipped"
    return without, [f"{name} {what}: mpirun is not installed: apt install openmpi-bin"]


def left_out_places(names, places):
    """The lines that say which of these groups leave out which numbers of places, and why."""
    within = [name for name in names if not GROUPS[name].over_places]
    more = [str(count) for count in places if count > 1]
    if not within or not more:
        return []
    verb = "leaves" if len(within) == 1 else "leave"
    return [f"{listed(within)} {verb} out {listed(more)} places: what is measured there happens "
            "within one place"]


def listed(words):
    """The words as in a sentence: one, two and three."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def missing_peers(name, build):
    """A line for each peer of a group that CMake has not found. sync_bench reports its peers in the
    same words (measurement.py), and the report has one of the two lines."""
    if not GROUPS[name].peers:
        return []
    try:
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    except OSError as error:
        return [f"{build}/CMakeCache.txt cannot be read, so that peers may be left out without a "
                f"line here: {error.strerror}"]
    found = dict(re.findall(r"^(\w+):\w+=(.+)$", cache, re.MULTILINE))
    return [f"{name}: {peer} is left out, because it is not built in: apt install {package}, then "
            "configure and build again"
            for peer, (variable, package) in LIBRARIES.items()
            if peer in GROUPS[name].peers and found.get(variable, "NOTFOUND").endswith("NOTFOUND")]
