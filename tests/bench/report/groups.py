# SPDX-License-Identifier: Apache-2.0
"""The groups of benchmarks that a report consists of, and what this host lacks for them."""

import shutil
import subprocess
from dataclasses import dataclass, field

import papers
import pbbs
import programs
import runtimes
import threads


@dataclass
class Group:
    """What --only names: its title, its commands, and its peers by their Debian packages."""
    title: str
    commands: object
    peers: dict = field(default_factory=dict)
    notes: object = lambda build: []  # maps the build folder to lines about what is left out
    over_places: bool = False         # its commands run at each of the numbers of places


GROUPS = {
    "spawn": Group("Spawning tasks within a place",
                   programs.within_a_place("spawn_bench", (45, 5)),
                   {"libtbb-dev": "oneTBB", "libgomp1": "OpenMP"}),
    "sync": Group("Clocks, phasers and barriers", programs.within_a_place("sync_bench", (150, 30)),
                  {"libboost-fiber-dev": "Boost.Fiber", "default-jdk-headless": "Java",
                   "libgomp1": "OpenMP"}),
    "algorithm": Group("Parallel algorithms",
                       programs.within_a_place("algorithm_bench", (30, 5)),
                       {"libtbb-dev": "the parallel algorithms of std"}),
    # Two places exchange messages, while the others sleep. A single place exchanges them with
    # itself, in a process without MPI.
    "place": Group("Messages between two places, or within one",
                   programs.over_places("place_bench", (30, 10), ("--transport", "local")),
                   {"libucx-dev": "UCX"}, over_places=True),
    "rma": Group("One-sided access to the memory of another place, or of the same one",
                 programs.over_places("rma_bench", (30, 10), ("--transport", "local")),
                 {"libucx-dev": "UCX"}, over_places=True),
    "team": Group("Collective operations, finish and clocks over places",
                  programs.over_places("team_bench", (30, 10)), over_places=True),
    "programs": Group("Programs beside plain MPI, and within a place beside OpenMP and oneTBB",
                      threads.commands,
                      {"libtbb-dev": "oneTBB", "libgomp1": "OpenMP"}, over_places=True),
    "pbbs": Group("Kernels of the Problem Based Benchmark Suite, beside OpenMP and oneTBB",
                  pbbs.commands, {"libtbb-dev": "oneTBB", "libgomp1": "OpenMP"}),
    "peers": Group("A spawn, and a barrier by number of tasks, beside all peers",
                   runtimes.commands, notes=lambda build: runtimes.prepare(build)[1]),
    "papers": Group("The figures of the papers", papers.commands),
    "speed-up": Group("Speed-up of programs", programs.speed_up, over_places=True),
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


def installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package],
                          capture_output=True, text=True, check=False)
    return done.stdout == "installed"


def missing_peers(name):
    """A line for each peer of a group whose package is not installed; none on other systems."""
    if not shutil.which("dpkg-query"):
        return []
    return [f"{name} is measured without {peer}: apt install {package}, and build again"
            for package, peer in GROUPS[name].peers.items()
            if not installed(package) and not shutil.which(peer.lower())]  # java: of any package
