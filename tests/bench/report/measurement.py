# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a report in rounds, and describes the machine.

In each round every command runs once, so that a change of the machine meets all of them; the first
round warms up, unless it is the only one. A program runs its own variants and peers in turn.
"""

import datetime
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from typing import NamedTuple

import programs

PACKAGES = {"UCX": "libucx-dev", "oneTBB": "libtbb-dev", "Boost.Fiber": "libboost-fiber-dev",
            "OpenMP": "libgomp1"}
CRATES = ("rayon", "chili", "tokio")
TIMEOUT = 1800  # seconds of one run
USAGE_ERROR = 2  # of a program
NOT_BUILT = "is not built into this program, because"  # a peer whose library CMake has not found


class Failed(Exception):
    """A program that failed, with the reason in one line."""


def busy_seconds():
    """Busy seconds of all cores, and of the processes that this program has started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ((user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK"),
            of_children.ru_utime + of_children.ru_stime)


def run(command):
    """Runs a command once and returns its samples, and a line about each part that it left out."""
    arguments = [str(each) for each in command.arguments]
    with programs.temporary_folder() as folder:
        if command.json_file:
            arguments += ["--json", str(pathlib.Path(folder, "findings.json"))]
        try:
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT,
                                  env=os.environ | command.environment, check=False)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{arguments[0]} did not end within {TIMEOUT} s") from late
        except OSError as error:
            raise Failed(f"{arguments[0]} cannot be started: {error.strerror}") from error
        if done.returncode == USAGE_ERROR and NOT_BUILT in done.stderr:
            return {}, [done.stderr.strip().splitlines()[-1]]
        try:
            if done.returncode != 0:
                raise ValueError(f"code {done.returncode}")
            found = programs.find_json(command, done, folder)
            return command.read(found), found.get("left_out", [])
        except (OSError, ValueError, IndexError, KeyError) as error:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no output"]
            raise Failed(f"{' '.join(arguments)}: {error}; {last[0]}") from error


class Progress:
    """A bar with the time left, from the guesses of the commands and the times seen so far."""

    def __init__(self, total):
        self.total, self.spent, self.begin, self.output = total, 0, time.monotonic(), sys.stderr

    def left(self):
        seconds = time.monotonic() - self.begin
        pace = seconds / self.spent if self.spent else 1
        return max(0, self.total - self.spent) * pace

    def show(self, what):
        filled = round(30 * self.spent / self.total) if self.total else 30
        left = str(datetime.timedelta(seconds=round(self.left())))
        self.say(f"[{'#' * filled}{'.' * (30 - filled)}] {left} left: {what}",
                 end="" if self.output.isatty() else "\n")

    def say(self, line, end="\n"):
        start = "\r\033[K" if self.output.isatty() else ""
        print(f"{start}{line}", end=end, file=self.output, flush=True)


class Measured(NamedTuple):
    """What the commands have measured."""
    samples: dict  # by group and key
    failures: list
    left_out: list  # the given notes, and a line about each other part that was left out
    others: float  # cores that other programs have used
    commands_of: dict  # the (group, command) pairs that measure a benchmark of a group


def measure(commands, rounds, quick, notes=()):
    """Runs (group, command) pairs."""
    estimate = {id(command): command.seconds[quick] for _, command in commands}
    progress = Progress(sum(estimate.values()) * rounds)
    samples, failures, left_out = defaultdict(lambda: defaultdict(list)), {}, list(notes)
    commands_of = defaultdict(dict)
    before, begin = busy_seconds(), time.monotonic()
    for number in range(rounds):
        for group, command in commands:
            progress.show(f"{group}, round {number + 1} of {rounds}")
            if id(command) not in failures:
                try:
                    found, missing = run(command)
                except Failed as reason:
                    failures[id(command)] = str(reason)
                    found, missing = {}, []
                for line in (f"{group}: {part}" for part in missing):
                    if line not in left_out:
                        left_out.append(line)
                        progress.say(line)
                if number > 0 or rounds == 1:
                    for key, value in found.items():
                        samples[group][key].append(value)
                        commands_of[group, key.benchmark][id(command)] = (group, command)
            progress.spent += estimate[id(command)]
    everything, own = (now - then for now, then in zip(busy_seconds(), before))
    others = max(0.0, everything - own) / max(time.monotonic() - begin, 1e-9)
    progress.show("done")
    if progress.output.isatty():
        print(file=progress.output)
    return Measured(samples, list(failures.values()), left_out, others,
                    {benchmark: list(found.values()) for benchmark, found in commands_of.items()})


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "not installed"
    return (done.stdout or done.stderr).strip().split("\n")[0]


def package_version(package):
    """The version of an installed Debian package; elsewhere that is unknown."""
    found = first_line("dpkg-query", "-W", "-f=${Version}", package)
    return found if found[:1].isdigit() else "unknown"


def crates():
    """The versions of the peers in Rust."""
    lock = programs.ROOT / "tests/bench/peers/rust/Cargo.lock"
    found = dict(re.findall(r'^name = "(.*)"\nversion = "(.*)"$', lock.read_text(encoding="utf-8"),
                            re.MULTILINE))
    return {name: found[name] for name in CRATES}


def taskflow():
    """The version of Taskflow's header."""
    found = first_line("sh", "-c", "echo '#include <taskflow/taskflow.hpp>' | "
                       "g++ -std=c++20 -E -dM -x c++ - | grep 'define TF_VERSION '")
    number = re.search(r"TF_VERSION (\d+)", found)
    if not number:
        return "not installed"
    value = int(number[1])
    return f"{value // 100_000}.{value // 100 % 1000}.{value % 100}"


def machine():
    model = [line.split(":", 1)[1].strip() for line in
             pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
             if line.startswith("model name")]
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "processor": model[0] if model else platform.machine(), "cores": os.cpu_count(),
            "kernel": platform.release(), "load": os.getloadavg()[0]}


def versions():
    return {"commit": first_line("git", "-C", str(programs.ROOT), "describe", "--always",
                                 "--dirty"),
            "g++": first_line("g++", "--version"), "mpirun": first_line("mpirun", "--version"),
            **{name: package_version(package) for name, package in PACKAGES.items()},
            "python": platform.python_version(), "go": first_line("go", "version"),
            "cargo": first_line("cargo", "--version"), **crates(), "Taskflow": taskflow(),
            "java": first_line("java", "-version")}
