#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs apps in turn with their peers in plain MPI (apps/peers), and prints a comparison.

    peers.py build/release/apps [--places 2] [--transport ucx] [--repeat 11] [--only bfs] [--quick]

Each repetition runs every variant of ours and the peer once, with one worker for each place; the
order rotates. A ratio compares the seconds of ours with those of the peer in the same repetition;
below 1, ours is faster. Rates are medians: updates, traversed edges or tree nodes per second. The
exit code is 1 if a program failed or did not verify its result.

For uts, two places with one worker each are also compared with one place with two workers, by tasks
and by glb (uts T3); those ratios are relative to the tasks of one place. The transport is that of
the two places.

A waiting rank of the peer yields its core, as a place of ours does. --spin leaves it at Open MPI's
default, for an otherwise idle machine; beside other programs this is much slower.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

APGAS_RUN = pathlib.Path(__file__).resolve().parents[2] / "launch" / "apgas-run"
ENVIRONMENT = dict(os.environ)
YIELDS = {"OMPI_MCA_mpi_yield_when_idle": "1"}
USAGE_ERROR = 2  # of a program

class Refused(Exception):
    """A program refuses its arguments at this number of places, with its reason in one line."""


class Case:
    """An app: its arguments, those for --quick, the figure that is its rate, and its variants."""

    def __init__(self, size, quick, rate, variants):
        self.size, self.quick = size.split(), quick.split()
        self.figure, self.factor, self.unit = rate or (None, 1, "")
        self.variants = variants
        self.peer = variants[-1]


class Variant:
    """A program and its arguments; by default at the given places, with one worker each."""

    def __init__(self, name, arguments="", app="", places=None, workers=1):
        self.name, self.arguments = name, arguments.split()
        self.app, self.places, self.workers = app, places, workers


def ours(*names):
    return [Variant(name, f"--variant {name}") for name in names]


T3 = "-t 0 -b 2000 -q 0.124875 -m 8 -r 42"
CASES = {
    "gups": Case("-n 18", "-n 10", ("gups", 1e3, "M updates/s"),
                 [*ours("counted", "task", "batches"), Variant("mpi", app="gups_mpi")]),
    "bfs": Case("--scale 16", "--scale 8", ("teps", 1e-6, "MTEPS"),
                [*ours("tasks", "batches"), Variant("mpi", app="bfs_mpi")]),
    "jacobi": Case("-n 1024 --steps 200", "-n 64 --steps 5", None,
                   [Variant("forall"), Variant("mpi", app="jacobi_mpi")]),
    "jacobi small": Case("-n 256 --steps 2000", "-n 32 --steps 5", None,
                         [Variant("forall"), Variant("mpi", app="jacobi_mpi")]),
    "kmeans": Case("-n 1000000 -k 30 --rounds 10", "-n 2000 -k 8", None,
                   [Variant("reduce"), Variant("mpi", app="kmeans_mpi")]),
    "sort": Case("-n 10000000", "-n 10000", ("keys_per_second", 1e-6, "M keys/s"),
                 [Variant("sample"), Variant("mpi", app="sort_mpi")]),
    "sor": Case("--size C", "--iterations 2", None,
                [Variant("places"), Variant("mpi", app="sor_mpi")]),
    "labelprop": Case("-n 500000", "-n 5000", None,
                      [Variant("rounds"), Variant("mpi", app="labelprop_mpi")]),
    "cg": Case("-n 128", "-n 8", None,
               [Variant("dist_array"), Variant("mpi", app="cg_mpi")]),
    "cg small": Case("-n 32", "-n 4", None,
                     [Variant("dist_array"), Variant("mpi", app="cg_mpi")]),
    "fft": Case("-x 128 -y 128 -z 128 --rounds 3", "-x 8 -y 8 -z 8", ("gflops", 1e3, "Mflop/s"),
                [Variant("alltoall"), Variant("mpi", app="fft_mpi")]),
    "comd": Case("--lattice 20 --steps 100", "--lattice 7 --steps 5", None,
                 [Variant("places"), Variant("mpi", app="comd_mpi")]),
    "life": Case("-n 512 --generations 200", "-n 64 --generations 20", None,
                 [Variant("phaser"), Variant("mpi", app="life_mpi")]),
    "sssp": Case("--scale 16", "--scale 8", None,
                 [Variant("delta"), Variant("mpi", app="sssp_mpi")]),
    "triangles": Case("--scale 16", "--scale 8", None,
                      [Variant("places"), Variant("mpi", app="triangles_mpi")]),
    "uts T3": Case(T3, T3, ("nodes_per_second", 1e-6, "M nodes/s"),
                   [Variant("glb", places=2), Variant("glb 1x2", "--glb", places=1, workers=2),
                    Variant("tasks 1x2", places=1, workers=2)]),
    "uts peer": Case(T3, T3, ("nodes_per_second", 1e-6, "M nodes/s"),
                     [Variant("glb"), Variant("mpi", app="uts_mpi")]),
}


def busy_seconds():
    """Busy seconds of all cores of this machine, and of the processes this script started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    everything = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
    return everything, of_children.ru_utime + of_children.ru_stime


def run(program, variant, arguments, options):
    """Returns the last line of a program, which must have verified its result."""
    places = variant.places or options.places
    command = [APGAS_RUN, "-n", str(places), "--transport", options.transport,
               "--timeout", "300", program, *arguments, *variant.arguments]
    environment = ENVIRONMENT | {"APGAS_WORKERS": str(variant.workers)}
    if not options.spin:
        environment |= YIELDS
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    try:
        line = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        line = {}
    if done.returncode == USAGE_ERROR and done.stderr:
        raise Refused(done.stderr.splitlines()[0])
    if done.returncode != 0 or not line.get("verified") or line["places"] != places:
        sys.exit(f"{' '.join(map(str, command))}: code {done.returncode}, not verified\n"
                 f"{done.stdout}{done.stderr}")
    return line


def measure(name, options):
    """Maps each variant to the last lines of its runs."""
    case = CASES[name]
    arguments = case.quick if options.quick else case.size
    lines = {variant.name: [] for variant in case.variants}
    order = list(case.variants)
    for _ in range(options.repeat):
        for variant in order:
            program = options.folder / (variant.app or name.split()[0])
            lines[variant.name].append(run(program, variant, arguments, options))
        order = order[1:] + order[:1]
    return lines


def describe(name, lines):
    case = CASES[name]
    peer = [line["seconds"] for line in lines[case.peer.name]]
    for variant, runs in lines.items():
        seconds = [line["seconds"] for line in runs]
        ratios = [own / other for own, other in zip(seconds, peer)]
        rate = ""
        if case.figure:
            median = statistics.median(line[case.figure] for line in runs)
            rate = f"{median * case.factor:9.1f} {case.unit}"
        print(f"{name:<13} {variant:<10}{runs[0]['places']:>2} places"
              f"{statistics.median(seconds) * 1e3:>10.2f} ms{min(seconds) * 1e3:>10.2f} least"
              f"{rate:<22}"
              f"{statistics.median(ratios):>7.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="the folder with the built apps")
    parser.add_argument("--places", type=int, default=2)
    parser.add_argument("--transport", choices=["shm", "ucx", "mpi"], default="shm",
                        help="the transport of ours")
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("--only", choices=sorted({name.split()[0] for name in CASES}))
    parser.add_argument("--spin", action="store_true",
                        help="waiting ranks of the peer do not yield")
    parser.add_argument("--json", help="write the measurements to this file")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes, once: checks results; the times mean nothing")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if options.quick:
        options.repeat = 1
    before, start = busy_seconds(), time.monotonic()
    measured, left_out = {}, []
    print("seconds: median and least; ratio to the peer of the same repetition: median (range)")
    for name in CASES:
        if options.only in (None, name.split()[0]):
            try:
                measured[name] = measure(name, options)
            except Refused as reason:
                left_out.append(f"{name} is left out at {options.places} places: {reason}")
                print(left_out[-1])
            else:
                describe(name, measured[name])
    everything, own = (now - then for now, then in zip(busy_seconds(), before))
    others = max(0.0, everything - own) / (time.monotonic() - start)
    print(f"transport {options.transport}, {options.repeat} repetitions, "
          f"{others:.2f} of {os.cpu_count()} cores used by others")
    if options.json:
        report = {"places": options.places, "transport": options.transport,
                  "cores_used_by_others": others, "runs": measured, "left_out": left_out}
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
