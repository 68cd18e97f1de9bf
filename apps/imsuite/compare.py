#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of IMSuite in all ways to keep in step and prints the speed-ups.

The ways take turns, so that what else the machine does falls on all of them; a time is the median
of the repetitions. The last lines are geometric means; that of KC, HS, LCR and BY tells what a
clock costs, since these kernels do little else than keep in step.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

KERNELS = ["KC", "HS", "LCR", "BY", "BF", "DST", "MIS", "MST", "VC", "DS", "DP"]
CLOCK_BOUND = ["KC", "HS", "LCR", "BY"]
WAYS = ["baseline", "finish", "clocks"]
PROGRAM = pathlib.Path(__file__).parents[2] / "build/release/apps/imsuite"


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=PROGRAM, help="imsuite (default: %(default)s)")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=KERNELS, metavar="KERNEL")
    parser.add_argument("--sync", nargs="+", choices=WAYS, default=WAYS, metavar="WAY",
                        help="of baseline, finish, clocks (default: all)")
    parser.add_argument("--nodes", type=int, default=64,
                        help="0: as in the suite; then the baseline takes minutes per kernel")
    parser.add_argument("--repetitions", type=int, default=5, help="of each program")
    parser.add_argument("--repeat", type=int, default=5,
                        help="within a program, but for the baseline")
    parser.add_argument("--input", nargs="+", default=[], metavar="KERNEL=FILE",
                        help="input files, in place of generated inputs")
    parser.add_argument("--plot", metavar="FILE", help="draw the speed-ups, with matplotlib")
    chosen = parser.parse_args()
    chosen.files = dict(pair.split("=", 1) for pair in chosen.input)
    return chosen


def run(chosen, kernel, way):
    """One program: its line of JSON."""
    source = (["--input", chosen.files[kernel]] if kernel in chosen.files
              else ["--nodes", str(chosen.nodes)])
    repeat = 1 if way == "baseline" else chosen.repeat
    command = [chosen.program, kernel, "--sync", way, "--repeat", str(repeat), *source]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(chosen, kernel):
    """Medians of the seconds of each way, and the last line of JSON."""
    seconds = {way: [] for way in chosen.sync}
    for _ in range(chosen.repetitions):
        for way in chosen.sync:
            line = run(chosen, kernel, way)
            seconds[way].append(line["seconds"])
    return {way: statistics.median(s) for way, s in seconds.items()}, line


def plot(file, speedups, ways):
    import matplotlib  # only who wants the figure needs it
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(9, 4))
    for number, way in enumerate(ways):
        places = [i + 0.4 * number for i in range(len(speedups))]
        axes.bar(places, [s[way] for s in speedups.values()], width=0.4, label=way)
    axes.set_xticks(range(len(speedups)), speedups.keys())
    axes.set_yscale("log")
    axes.set_ylabel("times as fast as the baseline")
    axes.legend()
    figure.savefig(file, bbox_inches="tight")


def main():
    chosen = options()
    faster = [w for w in ("finish", "clocks") if w in chosen.sync and "baseline" in chosen.sync]
    both = "finish" in chosen.sync and "clocks" in chosen.sync
    print(f"{'kernel':6} {'nodes':>6} {'phases':>9}", *(f"{w + ' ms':>12}" for w in chosen.sync),
          *(f"{w + ' x':>9}" for w in faster), "clocks/finish" if both else "")
    speedups, costs = {}, {}
    for kernel in chosen.kernels:
        seconds, line = measure(chosen, kernel)
        speedups[kernel] = {w: seconds["baseline"] / seconds[w] for w in faster}
        print(f"{kernel:6} {line['nodes']:6} {line['phases']:9}",
              *(f"{1000 * seconds[w]:12.3f}" for w in chosen.sync),
              *(f"{speedups[kernel][w]:9.1f}" for w in faster), end=" ")
        if both:
            costs[kernel] = seconds["clocks"] / seconds["finish"]
            print(f"{costs[kernel]:13.2f}", end="")
        print(flush=True)
    for way in faster:
        mean = statistics.geometric_mean(s[way] for s in speedups.values())
        print(f"geometric mean of the speed-ups of {way} over the baseline: {mean:.1f}")
    bound = [k for k in CLOCK_BOUND if k in costs]
    if bound:
        mean = statistics.geometric_mean(costs[k] for k in bound)
        print(f"geometric mean of clocks/finish, {' '.join(bound)}: {mean:.2f}")
    if chosen.plot and faster:
        plot(chosen.plot, speedups, faster)


if __name__ == "__main__":
    main()
