#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the cache lines that operations within a place touch, as a table.

Argument: the program operations_test of a release build. Needs valgrind, whose tool lackey reports
each access to memory. Takes a few minutes.
"""

import re
import statistics
import subprocess
import sys
import threading

LAPS = 24
COUNTED = 12  # the last ones, in steady state
LINE = 64
ACCESS = re.compile(r"^(I | [LSM]) +([0-9a-f]+),([0-9]+)$")


def lines_of(address, size):
    return range(address // LINE, (address + size - 1) // LINE + 1)


class Names(threading.Thread):
    """Reads what the program prints: the address of the mark, and the names of the operations."""

    def __init__(self, output):
        super().__init__()
        self.output, self.mark, self.names = output, None, []
        self.start()

    def run(self):
        self.mark = int(self.output.readline().split()[1], 16)
        self.names = [line.rstrip("\n") for line in self.output]


def laps_of(program):
    """Returns the names of the operations, and for each lap the number of lines of its code and of
    its data."""
    command = ["valgrind", "--tool=lackey", "--trace-mem=yes", program, "--marked", str(LAPS)]
    laps = []
    code, data = set(), set()
    try:
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        sys.exit("cache_lines.py: valgrind is not installed (Debian: apt install valgrind)")
    with job:
        printed = Names(job.stdout)
        for line in job.stderr:
            if printed.mark is None or (access := ACCESS.match(line)) is None:
                continue
            kind, address, size = access[1], int(access[2], 16), int(access[3])
            if kind == " S" and address == printed.mark:
                laps.append((len(code), len(data)))
                code, data = set(), set()
            else:
                (code if kind == "I " else data).update(lines_of(address, size))
        printed.join()
    if job.returncode != 0:
        sys.exit(f"{program} failed under valgrind with code {job.returncode}")
    return printed.names, laps[1:]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: cache_lines.py PROGRAM, which is operations_test of a release build")
    names, laps = laps_of(sys.argv[1])
    print("| operation | lines of data | lines of code |\n|---|---|---|")
    for i, name in enumerate(names):
        counted = laps[(i + 1) * LAPS - COUNTED - 1:(i + 1) * LAPS - 1]  # without what follows
        code, data = (statistics.fmean(lap[which] for lap in counted) for which in (0, 1))
        print(f"| {name} | {data:.0f} | {code:.0f} |")


main()
