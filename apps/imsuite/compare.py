#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of IMSuite with all policies and prints a comparison.

    compare.py --figure 20 --nodes 32 --json figure20.json --plot figure20.png

The policies run in turn, so that other load of the machine affects all of them. A time is the
median of the repetitions. A column a/b is the time of a divided by that of b: the speed-up of b
over a. Below are geometric means: of each kernel over all numbers of workers, and of the kernels
with many (high) and with few (low) synchronisations per second, as divided by the paper's Figure
14.

--figure reproduces a figure of the paper: 16 is the speed-up of clocks over the baseline, at each
number of workers; 20 is that of finish over the baseline and over clocks, both for the kernels of
`high`; 23 is 20 for the kernels of `low`. With --workers a program has as many cores as workers,
because the threads of the baseline are not workers.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

# The kernels, and their names in the names of the suite's input files.
HIGH = {"KC": "kcommitte", "HS": "leader_elect_hs", "LCR": "leader_elect_lcr", "BY": "byzantine"}
LOW = {"BF": "bfsBellmanFord", "DST": "bfsDijkstra", "MIS": "mis", "MST": "mst",
       "VC": "vertexColoring", "DS": "dominatingSet", "DP": "leader_elect_dp"}
GROUPS = {"high": HIGH, "low": LOW}
KERNELS = HIGH | LOW
WAYS = ["baseline", "finish", "clocks"]
QUOTIENTS = ["baseline/clocks", "baseline/finish", "clocks/finish"]
FIGURES = {None: (KERNELS, QUOTIENTS), 16: (HIGH, QUOTIENTS[:1]), 20: (HIGH, QUOTIENTS[1:]),
           23: (LOW, QUOTIENTS[1:])}
CORES = sorted(os.sched_getaffinity(0))
PROGRAM = pathlib.Path(__file__).parents[2] / "build/release/apps/imsuite"


def refuse(message):
    sys.exit(f"compare.py: {message}")


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"wanted a number from 1, found {number}")
    return number


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=PROGRAM, help="imsuite (default: %(default)s)")
    parser.add_argument("--figure", type=int, choices=[16, 20, 23], help="a figure of the paper")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, metavar="KERNEL",
                        help=f"of {' '.join(KERNELS)} (default: all, or those of the figure)")
    parser.add_argument("--sync", nargs="+", choices=WAYS, metavar="WAY",
                        help=f"of {' '.join(WAYS)} (default: all, or those of the figure)")
    parser.add_argument("--workers", nargs="+", type=positive, metavar="N",
                        help="APGAS_WORKERS and cores, one after another (default: one run, as "
                        "the program chooses; for a figure powers of two up to the cores)")
    parser.add_argument("--nodes", type=int, default=64,
                        help="0: as in the suite; the baseline then takes minutes per kernel")
    parser.add_argument("--inputs", metavar="DIR", help="a folder with the suite's input files, "
                        "inputbfsBellmanFord_*.txt and so on, instead of generated inputs")
    parser.add_argument("--input", nargs="+", default=[], metavar="KERNEL=FILE",
                        help="single input files; they take precedence over --inputs")
    parser.add_argument("--repetitions", type=positive, default=5,
                        help="repetitions of each program")
    parser.add_argument("--repeat", type=positive, default=5,
                        help="repetitions within a program, except for the baseline")
    parser.add_argument("--json", metavar="FILE", help="write all medians, extremes and means")
    parser.add_argument("--plot", metavar="FILE", help="draw the speed-ups, with matplotlib")
    return parser.parse_args()


def complete(chosen):
    """Completes the options; refuses those that would fail only after the measurements."""
    kernels, quotients = FIGURES[chosen.figure]
    chosen.kernels = chosen.kernels or list(kernels)
    chosen.sync = chosen.sync or [w for w in WAYS if any(w in q.split("/") for q in quotients)]
    chosen.quotients = [q for q in quotients if set(q.split("/")) <= set(chosen.sync)]
    if not set(chosen.kernels) <= set(kernels):
        refuse(f"--figure {chosen.figure}: wanted --kernels of {' '.join(kernels)}, "
               f"found {' '.join(chosen.kernels)}")
    if (chosen.figure or chosen.plot) and not chosen.quotients:
        refuse(f"--sync: wanted both ways of {' or '.join(quotients)}, "
               f"found {' '.join(chosen.sync)}")
    powers = [2 ** i for i in range(len(CORES).bit_length())]
    chosen.workers = chosen.workers or (powers if chosen.figure else [None])
    chosen.files = input_files(chosen)
    if not shutil.which(chosen.program):
        refuse(f"no program {chosen.program}: build it with `cmake --preset release && cmake "
               "--build --preset release --target imsuite`, or name it with --program")
    for file in filter(None, [chosen.json, chosen.plot]):
        if not pathlib.Path(file).parent.is_dir():
            refuse(f"{file}: no such folder: create it, or name a file elsewhere")
    if chosen.plot and not importlib.util.find_spec("matplotlib"):
        refuse("--plot needs matplotlib: `python3 -m pip install matplotlib`, or leave it out")


def input_files(chosen):
    files = {}
    for pair in chosen.input:
        kernel, _, file = pair.partition("=")
        if kernel not in chosen.kernels or not file:
            refuse(f"--input {pair}: wanted KERNEL=FILE, KERNEL one of {' '.join(chosen.kernels)}")
        files[kernel] = file
    for kernel in [k for k in chosen.kernels if chosen.inputs and k not in files]:
        name = f"input{KERNELS[kernel]}_*.txt"
        found = sorted(pathlib.Path(chosen.inputs).glob(name))
        if len(found) != 1:
            refuse(f"--inputs: wanted one file {chosen.inputs}/{name} for {kernel}, found "
                   f"{len(found) or 'none'}; --input {kernel}=FILE names one")
        files[kernel] = found[0]
    return files


def run(chosen, kernel, workers, way):
    """Runs one program and returns its line of JSON."""
    source = (["--input", chosen.files[kernel]] if kernel in chosen.files
              else ["--nodes", chosen.nodes])
    repeat = 1 if way == "baseline" else chosen.repeat
    command = [str(word) for word in
               [chosen.program, kernel, "--sync", way, "--repeat", repeat, *source]]
    os.sched_setaffinity(0, CORES[:workers])  # inherited by the program
    environment = {"APGAS_WORKERS": str(workers)} if workers else {}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode != 0 or '"verified":true' not in done.stdout:
        refuse(f"{' '.join(command)} failed with code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(chosen, kernel, workers):
    """Returns the seconds of each policy, and their quotients."""
    seconds = {way: [] for way in chosen.sync}
    for _ in range(chosen.repetitions):
        for way in chosen.sync:
            line = run(chosen, kernel, workers, way)
            seconds[way].append(line["seconds"])
    medians = {way: statistics.median(s) for way, s in seconds.items()}
    return {"kernel": kernel, "workers": line["workers"], "nodes": line["nodes"],
            "phases": line["phases"],
            "seconds": {way: {"median": medians[way], "min": min(s), "max": max(s)}
                        for way, s in seconds.items()},
            "speedups": {q: medians[q.split("/")[0]] / medians[q.split("/")[1]]
                         for q in chosen.quotients}}


def mean(name, workers, lines):
    return {"kernel": name, "workers": workers,
            "speedups": {q: statistics.geometric_mean(line["speedups"][q] for line in lines)
                         for q in lines[0]["speedups"]}}


def means(lines):
    """Means of each kernel over all numbers of workers, and of each group at each and over all."""
    counts = list(dict.fromkeys(line["workers"] for line in lines))
    found = []
    for kernel in dict.fromkeys(line["kernel"] for line in lines if len(counts) > 1):
        found.append(mean(kernel, "all", [x for x in lines if x["kernel"] == kernel]))
    for group, kernels in GROUPS.items():
        members = [line for line in lines if line["kernel"] in kernels]
        for count in counts if members else []:
            found.append(mean(group, count, [x for x in members if x["workers"] == count]))
        if members and len(counts) > 1:
            found.append(mean(group, "all", members))
    return found


def show(chosen, line):
    """Prints a line of the table; a mean has only speed-ups."""
    seconds = line.get("seconds")
    print(f"{line['kernel']:6} {line['workers']:>7} {line.get('nodes', ''):>6} "
          f"{line.get('phases', ''):>9}",
          *(f"{1000 * seconds[w]['median']:12.3f}" if seconds else 12 * " " for w in chosen.sync),
          *(f"{line['speedups'][q]:15.2f}" for q in chosen.quotients), flush=True)


def plot(chosen, lines):
    """With one quotient, a bar for each number of workers; otherwise a bar for the mean of each."""
    from matplotlib.figure import Figure  # needed only for a figure
    whole = lines[-1]["workers"]
    bars = ([(q, whole) for q in chosen.quotients] if len(chosen.quotients) > 1 else
            [(chosen.quotients[0], n) for n in dict.fromkeys(line["workers"] for line in lines)])
    names = [line["kernel"] for line in lines if line["workers"] == whole]
    figure = Figure(figsize=(9, 4))
    axes = figure.subplots()
    for number, (quotient, workers) in enumerate(bars):
        axes.bar([i + 0.8 * number / len(bars) for i in range(len(names))],
                 [line["speedups"][quotient] - 1 for line in lines if line["workers"] == workers],
                 bottom=1, width=0.8 / len(bars), label=f"{quotient}, workers: {workers}")
    axes.set_xticks([i + 0.4 - 0.4 / len(bars) for i in range(len(names))], names)
    axes.set_yscale("log")
    axes.set_ylabel("speed-up")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=3)
    figure.savefig(chosen.plot, bbox_inches="tight")


def main():
    chosen = options()
    complete(chosen)
    print(f"{'kernel':6} {'workers':>7} {'nodes':>6} {'phases':>9}",
          *(f"{w + ' ms':>12}" for w in chosen.sync), *(f"{q:>15}" for q in chosen.quotients))
    measured = []
    for kernel in chosen.kernels:
        for workers in chosen.workers:
            measured.append(measure(chosen, kernel, workers))
            show(chosen, measured[-1])
    averages = means(measured) if chosen.quotients else []
    for line in averages:
        show(chosen, line)
    if chosen.json:
        result = {"options": vars(chosen), "cores": len(CORES), "measured": measured,
                  "means": averages}
        pathlib.Path(chosen.json).write_text(json.dumps(result, indent=1, default=str) + "\n")
    if chosen.plot:
        plot(chosen, measured + averages)


if __name__ == "__main__":
    main()
