# SPDX-License-Identifier: Apache-2.0
"""The programs of a report: how each is run, and how its output is read.

A run of a program yields samples: (benchmark, variant, workers, places) and the nanoseconds of one
operation. The times of different runs are put together by measurement.py.
"""

import json
import pathlib
import tempfile
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[3]
APGAS_RUN = ROOT / "launch/apgas-run"
SPEED_UP = {  # program and arguments: those of a full run, those of --quick
    "fib": ("-n 34", "-n 20"),
    "nqueens": ("-n 12", "-n 8"),
    "uts": ("-t 1 -a 3 -d 10 -b 4 -r 19", "-t 1 -a 3 -d 5 -b 4 -r 19"),
    "sort": ("-n 10000000", "-n 10000"),
    "jacobi": ("-n 1024 --steps 200", "-n 64 --steps 5"),
    "kmeans": ("-n 1000000 -k 30 --rounds 10", "-n 2000 -k 8"),
    "cg": ("-n 128", "-n 8"),
    "comd": ("--lattice 20 --steps 100", "--lattice 7 --steps 5"),
}


@dataclass(frozen=True)
class Key:
    benchmark: str
    variant: str
    workers: int
    places: int

    def ours(self):
        return self.variant.startswith("apgas")


@dataclass
class Command:
    """One run of a program: command line, environment, and a guess of its seconds."""
    arguments: list
    read: object                     # maps the output, or the JSON file, to samples
    environment: dict = field(default_factory=dict)
    json_file: bool = True           # the program writes its findings to the option --json
    seconds: tuple = (60, 5)         # of a full run, of --quick
    mpi: bool = False                # it cannot start without MPI


def read_findings(places):
    def read(report):
        if not all(result["correct"] for finding in report["findings"]
                   for result in finding["results"]):
            raise ValueError("a result is wrong")
        return {Key(finding["benchmark"], result["variant"], result["workers"], places):
                result["min_s"] / finding["operations"] * 1e9
                for finding in report["findings"] for result in finding["results"]}
    return read


def read_peers(report):
    samples = {}
    for name, runs in report["runs"].items():
        for variant, lines in runs.items():
            key = Key(name, "plain MPI" if variant == "mpi" else f"apgas {variant}",
                      lines[0]["workers"], lines[0]["places"])
            samples[key] = min(line["seconds"] for line in lines) * 1e9
    return samples


def read_app(workers, places):
    def read(line):
        if not line.get("verified"):
            raise ValueError("the program did not verify its result")
        return {Key(f"speed-up of {line['app']}", "apgas", workers, places):
                line["seconds"] * 1e9}
    return read


def quick_or_repeated(options, times=1):
    """A round repeats all programs, so those of tests/bench repeat their variants only if these
    take milliseconds. They run them once more before, to warm up."""
    return ["--quick"] if options.quick else ["--reps", str(times)]


def within_a_place(name, seconds, times=1):
    """times: how often a variant runs, as in quick_or_repeated()."""
    def commands(build, options):
        counts = ",".join(map(str, options.workers))
        return [Command([build / "tests/bench" / name, "--workers", counts,
                         *quick_or_repeated(options, times)], read_findings(1), seconds=seconds)]
    return commands


def over_places(name, seconds, alone=()):
    """alone: what apgas-run is told where there is one place, if this needs no MPI."""
    def commands(build, options):
        return [Command([APGAS_RUN, "-n", count, *(alone if count == 1 else ()),
                         build / "tests/bench" / name, *quick_or_repeated(options, 5)],
                        read_findings(count), seconds=seconds, mpi=count > 1 or not alone)
                for count in options.places]
    return commands


def peer_programs(build, options):
    quick = ["--quick"] if options.quick else ["--repeat", "1"]
    return [Command([ROOT / "tests/bench/peers.py", build / "apps", "--places", count, *quick],
                    read_peers, seconds=(45, 40), mpi=True)
            for count in options.places]


def speed_up(build, options):
    cases = dict.fromkeys([*((workers, 1) for workers in options.workers),
                           *((1, places) for places in options.places)])
    made = []
    for name, sizes in SPEED_UP.items():
        for workers, places in cases:
            arguments = [build / "apps" / name, *sizes[options.quick].split()]
            start = [APGAS_RUN, "-n", places, "-w", workers] if places > 1 else []
            made.append(Command([*start, *arguments], read_app(workers, places), json_file=False,
                                environment={"APGAS_WORKERS": str(workers)}, seconds=(4, 1),
                                mpi=places > 1))
    return made


def find_json(command, done, folder):
    """The findings of a finished run: those of its file, or its last line."""
    if command.json_file:
        return json.loads(pathlib.Path(folder, "findings.json").read_text(encoding="utf-8"))
    return json.loads(done.stdout.splitlines()[-1])


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="apgas-benchmark-")
