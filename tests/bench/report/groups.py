# SPDX-License-Identifier: Apache-2.0
"""The groups of benchmarks that a report consists of, and what this host lacks for them."""

import shutil
import subprocess
from dataclasses import dataclass, field

import papers
import programs
import runtimes


@dataclass
class Group:
    """What --only names: its title, its commands, and its peers by their Debian packages."""
    title: str
    commands: object
    peers: dict = field(default_factory=dict)
    notes: object = lambda build: []  # maps the build folder to lines about what is left out


GROUPS = {
    "spawn": Group("Spawning tasks within a place",
                   programs.bench_program("spawn_bench", (120, 5)),
                   {"libtbb-dev": "oneTBB", "libgomp1": "OpenMP"}),
    "sync": Group("Clocks, phasers and barriers", programs.bench_program("sync_bench", (180, 30)),
                  {"libboost-fiber-dev": "Boost.Fiber", "default-jdk-headless": "Java",
                   "libgomp1": "OpenMP"}),
    "algorithm": Group("Parallel algorithms",
                       programs.bench_program("algorithm_bench", (60, 5)),
                       {"libtbb-dev": "the parallel algorithms of std"}),
    "place": Group("Messages between places", programs.bench_program("place_bench", (60, 10), 2, 2),
                   {"openmpi-bin": "Open MPI", "libucx-dev": "UCX"}),
    "rma": Group("One-sided access to memory", programs.bench_program("rma_bench", (60, 10), 2, 2),
                 {"openmpi-bin": "Open MPI", "libucx-dev": "UCX"}),
    "team": Group("Collective operations, finish and clocks over places",
                  programs.bench_program("team_bench", (60, 10), 2),
                  {"openmpi-bin": "Open MPI"}),
    "programs": Group("Programs beside plain MPI", programs.peer_programs,
                      {"openmpi-bin": "Open MPI"}),
    "peers": Group("A spawn, and a barrier by number of tasks, beside all peers",
                   runtimes.commands, notes=lambda build: runtimes.prepare(build)[1]),
    "papers": Group("The figures of the papers", papers.commands),
    "speed-up": Group("Speed-up of programs", programs.speed_up),
}


def missing_start(name):
    """The reason why the commands of a group cannot be started on this host, or None."""
    if "openmpi-bin" in GROUPS[name].peers and not shutil.which("mpirun"):
        return "mpirun is not installed: apt install openmpi-bin"
    return None


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
