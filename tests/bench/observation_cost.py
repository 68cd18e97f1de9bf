#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a table: the instructions of a task, of a phase and of a task at another place, without
statistics and traces and with them.

    observation_cost.py build/release/apps [--repeat 5] [--quick]

The programs run with one worker for each place, all places in one process. Each runs with a small
and a large size, and the difference divided by the difference of operations is the cost of an
operation: what the start and the end take is not in it. A trace has so little memory
(APGAS_TRACE_MEMORY) that both sizes fill it, and writing the file at the end takes the same. The
settings take turns, and a figure is the median of the repetitions, with the distance of their
extremes.

Instructions are counted by perf stat where the processor has such counters, and otherwise by
valgrind --tool=cachegrind, which is slower by a factor of about 50. The exit code is 77 if there is
neither, and 1 if a program failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

SKIPPED = 77
PERF = ["perf", "stat", "-x,", "-e", "instructions:u", "--"]
CACHEGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
INSTRUCTIONS = re.compile(r"^(\d+),.*instructions|I\s+refs:\s+([\d,]+)", re.M)
SETTINGS = {"off": {}, "off again": {}, "`APGAS_STATS=1`": {"APGAS_STATS": "1"},
            "`APGAS_TRACE`": {"APGAS_TRACE": "run.json", "APGAS_TRACE_MEMORY": "1M"}}


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


class Case:
    """Arguments of a program without its size, two sizes, two for --quick, and the number of
    places. operations(size, output) is the number of operations of a run."""

    def __init__(self, name, command, sizes, quick, places, operations):  # noqa: PLR0913
        self.name, self.command, self.sizes, self.quick = name, command.split(), sizes, quick
        self.places, self.operations = places, operations


def number(name, output):
    return int(re.search(rf'"{name}":(\d+)', output)[1])


CASES = [
    Case("`fib --variant finish`, a task", "fib --variant finish -n", ("23", "27"), ("8", "12"), 1,
         lambda n, _: fibonacci(int(n) + 1) - 1),
    Case("`averaging -n 64`, a phase of a clock of a task", "averaging -n 64 --epsilon",
         ("0.1", "0.01"), ("1", "0.5"), 1, lambda _, output: 64 * number("steps", output)),
    Case("`gups --variant task`, a task at one of two places", "gups --variant task -n",
         ("12", "15"), ("4", "6"), 2, lambda _, output: number("updates", output)),
]


def works(tool):
    """Whether a tool can count the instructions of a program."""
    if shutil.which(tool[0]) is None:
        return False
    run = subprocess.run([*tool, "true"], capture_output=True, text=True, check=False)
    return run.returncode == 0 and INSTRUCTIONS.search(run.stderr) is not None


def instructions(tool, command, settings, folder, output):
    """The number of instructions of a run. Adds what it prints to the list `output`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    run = subprocess.run([*tool, *command], env=kept | settings, cwd=folder, capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with {run.returncode}: {run.stderr[-500:]}")
    output.append(run.stdout)
    found = INSTRUCTIONS.search(run.stderr)
    return int((found[1] or found[2]).replace(",", ""))


def cost(tool, case, apps, sizes, settings):
    """Instructions of one operation."""
    more = settings | {"APGAS_TRANSPORT": "local", "APGAS_WORKERS": "1",
                       "APGAS_PLACES": str(case.places)}
    points = []
    for size in sizes:
        output = []
        with tempfile.TemporaryDirectory() as folder:
            count = instructions(tool, [apps / case.command[0], *case.command[1:], size], more,
                                 folder, output)
        points.append((count, case.operations(size, output[0])))
    (less, few), (more, many) = points
    return (more - less) / (many - few)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("apps", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small sizes, whose figures are wrong")
    options = parser.parse_args()
    tool = next((t for t in (PERF, CACHEGRIND) if works(t)), None)
    if tool is None:
        print("neither perf nor valgrind counts instructions here: apt install valgrind")
        return SKIPPED
    print(f"instructions, counted by {tool[0]}")
    print("| |", " | ".join(SETTINGS), "|")
    print("|---|" + "---|" * len(SETTINGS))
    for case in CASES:
        found = {name: [] for name in SETTINGS}
        for _ in range(1 if options.quick else options.repeat):
            for name, settings in SETTINGS.items():
                found[name].append(cost(tool, case, options.apps.resolve(),
                                        case.quick if options.quick else case.sizes, settings))
        print(f"| {case.name} |", " | ".join(
            f"{statistics.median(x):.1f} ({max(x) - min(x):.1f})" for x in found.values()), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
