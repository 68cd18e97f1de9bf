# SPDX-License-Identifier: Apache-2.0
"""Peers in other languages and libraries (tests/bench/peers): how each is built and run.

They are built in the build folder, when a report needs them, because their compilers fetch
libraries from registries. A peer that cannot be built is left out, with the reason in one line.
"""

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass

import programs

SOURCES = programs.ROOT / "tests/bench/peers"
MEMBERS = {False: (2, 8, 64, 512, 4096, 65536), True: (2, 64)}  # of a barrier; True: --quick
PHASES = 200_000  # of all members together
FIB, BARRIER = "fib, each spawn", "barrier"


@dataclass(frozen=True)
class Peer:
    """A variant of the report: the size of its fib, and whether it has a barrier."""
    name: str
    program: str            # a key of PROGRAMS
    variant: tuple = ()     # the argument that names the library, if the program has several
    fib: int = 25
    barrier: bool = False


@dataclass(frozen=True)
class Program:
    """How a program of peers is built in a folder and started."""
    tools: tuple
    install: str                    # what to do if a tool or library is missing
    build: object                   # maps the folder to the command
    start: object                   # maps the folder and the workers to the first words
    folder: str = "."               # where it is built, below SOURCES


def built_by_gcc(name, *libraries):
    return lambda folder: ["g++", "-std=c++20", "-O3", f"{name}.cpp", "-o", folder / name,
                           "-pthread", *libraries]


PROGRAMS = {
    "go": Program(("go",), "apt install golang-go",
                  lambda folder: ["go", "build", "-o", folder / "go_peer", "peer.go"],
                  lambda folder, _: [folder / "go_peer"]),
    "rust": Program(("cargo",), "install Rust 1.85 or later from https://rustup.rs",
                    lambda folder: ["cargo", "build", "--release", "--locked", "--target-dir",
                                    folder / "rust"],
                    lambda folder, _: [folder / "rust/release/rust_peers"], "rust"),
    "java": Program(("javac", "java"), "apt install default-jdk-headless",
                    lambda folder: ["javac", "-d", folder, "SpawnPeer.java"],
                    lambda folder, workers: [
                        "java", f"-Djdk.virtualThreadScheduler.parallelism={workers}",
                        f"-Djdk.virtualThreadScheduler.maxPoolSize={workers}", "-cp", folder,
                        "SpawnPeer"]),
    "fiber": Program(("g++",), "apt install libboost-fiber-dev",
                     built_by_gcc("fiber_fib", "-lboost_fiber", "-lboost_context"),
                     lambda folder, _: [folder / "fiber_fib"]),
    "taskflow": Program(("g++",), "unpack Taskflow 4.1 from https://github.com/taskflow/taskflow "
                        "and set CPLUS_INCLUDE_PATH to its folder",
                        built_by_gcc("taskflow_fib"), lambda folder, _: [folder / "taskflow_fib"]),
}
PEERS = [
    Peer("Go, goroutines", "go", barrier=True),
    Peer("rayon", "rust", ("rayon",), 32),
    Peer("chili", "rust", ("chili",), 32),
    Peer("tokio", "rust", ("tokio",), barrier=True),
    Peer("Java, fork-join pool", "java", ("forkjoin",), 30),
    Peer("Java, virtual threads", "java", ("virtual",), 20),
    Peer("Boost.Fiber", "fiber", (), 18),
    Peer("Taskflow", "taskflow", (), 27),
]


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def java_version():
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found[1]) if found else 0


def folder_of(build):
    return build.resolve() / "tests/bench/peers"


def build_program(name, folder):
    """Builds a program of peers; returns None, or the reason why it is missing."""
    program = PROGRAMS[name]
    absent = [tool for tool in program.tools if not shutil.which(tool)]
    if absent:
        return f"{absent[0]} is not installed: {program.install}"
    done = subprocess.run([str(word) for word in program.build(folder)], capture_output=True,
                          text=True, check=False, cwd=SOURCES / program.folder)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    first = next((line for line in lines if "error" in line), (lines or ["no message"])[0])
    return f"{first.strip()} ({program.install})"


@functools.cache
def prepare(build):
    """Builds all programs; returns the peers that can be measured, and a line for each other."""
    folder = folder_of(build)
    folder.mkdir(parents=True, exist_ok=True)
    missing = {name: build_program(name, folder) for name in PROGRAMS}
    found, notes = [], []
    for peer in PEERS:
        reason = missing[peer.program]
        if reason is None and peer.name == "Java, virtual threads" and java_version() < 21:
            reason = (f"they need Java 21, and this is Java {java_version()}: apt install "
                      "openjdk-21-jdk-headless, where the distribution has it")
        if reason is None:
            found.append(peer)
        else:
            notes.append(f"peers is measured without {peer.name}: {reason}")
    return found, notes


def read(key, operations):
    def read_line(line):
        if not line["verified"]:
            raise ValueError("a result is wrong")
        return {key: line["seconds"] / operations * 1e9}
    return read_line


def commands_of(peer, folder, options):
    """The runs of a peer: its fib, and its barrier for each number of members."""
    program = PROGRAMS[peer.program]
    quick = options.quick
    for workers in options.workers:
        start = [*program.start(folder, workers), *peer.variant]
        n = min(peer.fib, 16) if quick else peer.fib
        yield programs.Command(
            [*start, "fib", workers, n],
            read(programs.Key(FIB, peer.name, workers, 1), fibonacci(n + 1) - 1),
            json_file=False, seconds=(3, 1))
        for members in MEMBERS[quick] if peer.barrier else ():
            phases = max(8, PHASES // members // (100 if quick else 1))
            yield programs.Command(
                [*start, "barrier", workers, members, phases],
                read(programs.Key(f"{BARRIER}, N = {members}", peer.name, workers, 1),
                     members * phases), json_file=False, seconds=(3, 1))


def ours(build, options):
    """The same works by apgas, and by the peers that run in the same programs."""
    def named(report):
        found = programs.read_findings(1)(report)
        return {programs.Key(FIB if key.benchmark.startswith("fib(") else key.benchmark,
                             key.variant, key.workers, 1): value for key, value in found.items()}
    size = ["--workers", ",".join(map(str, options.workers)),
            *programs.quick_or_repeated(options)]
    for name, work, seconds in (("spawn_bench", "fib", (5, 2)),
                                ("sync_bench", "barrier", (75, 15))):
        yield programs.Command([build / "tests/bench" / name, "--only", work, *size], named,
                               seconds=seconds)


def commands(build, options):
    made = list(ours(build, options))
    for peer in prepare(build)[0]:
        made += commands_of(peer, folder_of(build), options)
    return made
