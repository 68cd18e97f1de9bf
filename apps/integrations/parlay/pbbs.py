#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds programs of PBBS with parlaylib's own scheduler and with this runtime, and compares them.

  pbbs.py build <pbbsbench>    makes <program>.parlay and <program>.apgas in the folders of PBBS,
                               and the inputs by PBBS's generators; needs pkg-config with apgas
  pbbs.py run <pbbsbench>      runs both in turn, checks each first result by PBBS's own checker,
                               and prints a table; exit code 1 if a result was wrong

PBBS's makefiles set -std=c++17, and this library needs C++20. The options of the compiler and of
the linker are given on make's command line, so that PBBS itself stays as it is.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from comparison import MADE, cells, compiler_options, linker_options

# Folder of the program, folder of its inputs, inputs, options of the program and of its checker.
PROGRAMS = [
    ("integerSort/parallelRadixSort", "sequence", ["randomSeq_10M_int"], "-b 24", ""),
    ("comparisonSort/sampleSort", "sequence", ["randomSeq_10M_double"], "", ""),
    ("removeDuplicates/parlayhash", "sequence", ["randomSeq_10M_int"], "", ""),
    ("histogram/parallel", "sequence", ["randomSeq_10M_100K_int"], "-b 100000", ""),
    ("breadthFirstSearch/backForwardBFS", "graph",
     ["rMatGraph_J_12_1000000", "3Dgrid_J_1000000"], "", ""),
    ("maximalIndependentSet/incrementalMIS", "graph",
     ["rMatGraph_J_5_1000000", "3Dgrid_J_1000000"], "", ""),
    ("maximalMatching/incrementalMatching", "graph",
     ["rMatGraph_E_10_1000000", "3Dgrid_E_1000000"], "", ""),
]


def defined(makefile, name):
    """The value of a variable of a makefile."""
    for line in makefile.read_text().splitlines():
        if line.startswith(name) and "=" in line:
            return line.split("=", 1)[1].strip()
    raise KeyError(f"{makefile} does not define {name}")


def make(folder, *words):
    subprocess.run(["make", "-s", "-C", folder, *words], check=True)


def build(tree, only):
    common = "-mcx16 -O2 -std=c++20 -DNDEBUG -I ."
    ours = [f"CCFLAGS={common} {compiler_options()}", f"CLFLAGS=-ldl {linker_options()}"]
    built = set()
    for program, kind, inputs, *_ in PROGRAMS:
        if only not in program:
            continue
        folder = tree / "benchmarks" / program
        name = defined(folder / "Makefile", "BENCH")
        if program not in built:
            for end, options in zip(MADE, (["CCFLAGS=" + common], ours)):
                make(folder, "clean")
                make(folder, name, *options)
                (folder / name).rename(folder / f"{name}.{end}")
            make(folder, "clean")
            make(folder / "../bench", f"{name}Check")
            built.add(program)
        make(tree / "testData" / f"{kind}Data" / "data", *inputs)


def times_of(command, environment):
    """The times of the rounds, in ms; none if the program crashed. A program prints each as "Parlay
    time: <seconds>". Exit codes mean nothing here: the main() of some programs returns what a
    function left undefined."""
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    return [1000 * float(line.split()[-1]) for line in run.stdout.splitlines()
            if run.returncode >= 0 and line.startswith("Parlay time: ")]


def check(folder, name, options, source, result):
    """What PBBS's checker has to say; nothing if the result is right."""
    command = [folder / "../bench" / f"{name}Check", *options.split(), source, result]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in run.stdout.splitlines() if line and not line.startswith(":")]
    return lines + run.stderr.splitlines()


def compare(tree, program, kind, source, options, check_options, arguments):
    """Whether all runs ended, with right results."""
    folder = tree / "benchmarks" / program
    name = defined(folder / "Makefile", "BENCH")
    path = tree / "testData" / f"{kind}Data" / "data" / source
    environment = dict(os.environ, PARLAY_NUM_THREADS=str(arguments.workers))
    least = {end: [] for end in MADE}
    problems = []
    for run in range(arguments.runs):
        for end in MADE:
            command = [folder / f"{name}.{end}", *options.split(), "-r", str(arguments.rounds)]
            with tempfile.NamedTemporaryFile() as result:
                times = times_of([*command, "-o", result.name, path], environment)
                if not times:
                    problems.append(f"{end}: crashed")
                    continue
                least[end].append(min(times))
                if run == 0:
                    found = check(folder, name, check_options, path, result.name)
                    problems += [f"{end}: {line}" for line in found]
    for problem in problems:
        print(f"{program}, {source}, {problem}", file=sys.stderr)
    print(f"| {program} | {source} | {cells(least)} |", flush=True)
    return not problems


def run_all(tree, arguments):
    print(f"ms of a round by {arguments.workers} workers: minimum and median of the least times of "
          f"{arguments.runs} runs of {arguments.rounds} rounds\n\n"
          "| program | input | parlaylib | this library | parlaylib / this library |\n"
          "|---|---|---|---|---|")
    right = True
    for program, kind, inputs, options, check_options in PROGRAMS:
        if arguments.only not in program:
            continue
        for source in inputs:
            right &= compare(tree, program, kind, source, options, check_options, arguments)
    return 0 if right else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["build", "run"])
    parser.add_argument("tree", type=pathlib.Path, help="a source tree of pbbsbench")
    parser.add_argument("--only", default="", help="the programs whose names contain this text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=6, help="how often to start each program")
    parser.add_argument("--rounds", type=int, default=5, help="in each run, after a warm-up")
    arguments = parser.parse_args()
    tree = arguments.tree.resolve()
    if not (tree / "parlaylib/include").is_dir():
        parser.error(f"{tree}: no source tree of pbbsbench with its submodule parlaylib")
    return build(tree, arguments.only) if arguments.what == "build" else run_all(tree, arguments)


if __name__ == "__main__":
    sys.exit(main())
