#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests apps/imsuite/compare.py, with the program imsuite and with one that reports known times.

Argument: the program imsuite.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "apps/imsuite/compare.py"
IMSUITE = sys.argv.pop(1)
HIGH = ["KC", "HS", "LCR", "BY"]
LOW = ["BF", "DST", "MIS", "MST", "VC", "DS", "DP"]
QUOTIENTS = ["baseline/clocks", "baseline/finish", "clocks/finish"]

# Settings of the caller must not influence the tests.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("APGAS_")}

# Replaces imsuite. It reports 8, 1 and 2 seconds, times 1, 4 and 2 in turn; with a second worker
# the baseline takes twice as long. It logs its arguments.
STAND_IN = f"""#!{sys.executable} -S
import json, os, sys
calls = [json.loads(line) for line in open("log")]
_, kernel, _, way, *source = sys.argv
workers = int(os.environ.get("APGAS_WORKERS", 3))
turn = len([c for c in calls if c[:3] == [kernel, way, workers]])
seconds = dict(baseline=8 * workers, finish=1, clocks=2)[way] * [1, 4, 2][turn % 3]
with open("log", "a") as log:
    print(json.dumps([kernel, way, workers, len(os.sched_getaffinity(0)), source]), file=log)
print('{{"workers":%d,"seconds":%d,"verified":true,"nodes":7,"phases":9}}' % (workers, seconds))
"""
# Replaces matplotlib. The figure contains the arguments of its bars.
PLOTTER = """
import json
class Figure:
    def __init__(self, **_): self.bars = []
    def subplots(self): return self
    def bar(self, _, heights, bottom, label, **__): self.bars.append([label, bottom, heights])
    def set_xticks(self, _, names): self.names = names
    def set_yscale(self, _): pass
    def set_ylabel(self, _): pass
    def legend(self, **_): pass
    def savefig(self, file, **_): json.dump([self.names, self.bars], open(file, "w"))
"""


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("log", "")
        self.write("stand_in", STAND_IN).chmod(0o755)
        self.write("matplotlib/__init__.py", "")
        self.write("matplotlib/figure.py", PLOTTER)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def run_compare(self, *options, program="./stand_in", python=()):
        command = [sys.executable, *python, COMPARE, "--program", program, *map(str, options)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env=ENVIRONMENT | {"PYTHONPATH": str(self.folder)})

    def compare(self, *options, **how):
        """The JSON output, which must agree with the table."""
        done = self.run_compare(*options, "--json", "json", **how)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads((self.folder / "json").read_text())
        head, *table = done.stdout.splitlines()
        ways = result["options"]["sync"]
        self.assertEqual(head.replace(" ms", "").split(), [
            "kernel", "workers", "nodes", "phases", *ways, *result["options"]["quotients"]])
        wanted = []
        for x in result["measured"]:
            self.assertEqual(list(x["seconds"]), ways)
            wanted.append([x["kernel"], str(x["workers"]), str(x["nodes"]), str(x["phases"]),
                           *(f"{1000 * s['median']:.3f}" for s in x["seconds"].values())])
        wanted += [[x["kernel"], str(x["workers"])] for x in result["means"]]
        for words, x in zip(wanted, result["measured"] + result["means"]):
            words += [f"{s:.2f}" for s in x["speedups"].values()]
        self.assertEqual([line.split() for line in table], wanted)
        return result

    def log(self):
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    def refuses(self, message, *options, **how):
        done = self.run_compare(*options, **how)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rf"\Acompare.py: [^\n]*{message}[^\n]*\n\Z")
        self.assertEqual(self.log(), [])

    def test_figure_20_of_imsuite(self):
        result = self.compare("--figure", 20, "--kernels", "KC", "LCR", "--workers", 1, "--nodes",
                              16, "--repetitions", 1, program=IMSUITE)
        self.assertEqual([x["kernel"] for x in result["measured"]], ["KC", "LCR"])
        for x in result["measured"]:
            self.assertEqual((x["workers"], x["nodes"]), (1, 16))
            self.assertGreater(x["phases"], 0)
            seconds = {way: s["median"] for way, s in x["seconds"].items()}
            self.assertEqual(list(seconds), ["baseline", "finish", "clocks"])
            self.assertGreater(min(seconds.values()), 0)
            self.assertEqual(x["speedups"], {
                "baseline/finish": seconds["baseline"] / seconds["finish"],
                "clocks/finish": seconds["clocks"] / seconds["finish"]})
        mean, = result["means"]
        self.assertEqual((mean["kernel"], mean["workers"]), ("high", 1))
        for quotient, speedup in mean["speedups"].items():
            self.assertAlmostEqual(speedup, statistics.geometric_mean(
                x["speedups"][quotient] for x in result["measured"]))

    def test_input_files_of_imsuite(self):
        for name, kernel, nodes in [("bfsDijkstra_20_-spmax", "DST", 20),
                                    ("leader_elect_dp_21_-spmax", "DP", 21), ("own", "MIS", 22)]:
            subprocess.run([IMSUITE, kernel, "--nodes", str(nodes), "--write",
                            self.folder / f"input{name}.txt"], check=True, capture_output=True)
        result = self.compare("--sync", "finish", "clocks", "--kernels", "DST", "DP", "MIS",
                              "--inputs", ".", "--input", "MIS=inputown.txt", "--repetitions", 1,
                              program=IMSUITE)
        self.assertEqual([(x["kernel"], x["nodes"]) for x in result["measured"]],
                         [("DST", 20), ("DP", 21), ("MIS", 22)])
        self.assertEqual([list(x["speedups"]) for x in result["means"]], [["clocks/finish"]])

    def test_figure_16_over_workers(self):
        result = self.compare("--figure", 16, "--workers", 1, 2, "--repetitions", 3, "--plot", "p")
        self.assertEqual([(x["kernel"], x["workers"], x["speedups"]) for x in result["measured"]],
                         [(k, n, {"baseline/clocks": 4 * n}) for k in HIGH for n in (1, 2)])
        self.assertEqual(result["measured"][1]["seconds"], {
            "baseline": {"median": 32, "min": 16, "max": 64},
            "clocks": {"median": 4, "min": 2, "max": 8}})
        whole = statistics.geometric_mean([4, 8])
        means = [(x["kernel"], x["workers"], x["speedups"]["baseline/clocks"])
                 for x in result["means"]]
        wanted = [*((k, "all", whole) for k in HIGH), ("high", 1, 4), ("high", 2, 8),
                  ("high", "all", whole)]
        for (*name, found), (*wanted_name, speedup) in zip(means, wanted, strict=True):
            self.assertEqual(name, wanted_name)
            self.assertAlmostEqual(found, speedup)
        names, bars = json.loads((self.folder / "p").read_text())
        self.assertEqual(names, HIGH + ["high"])
        for (label, bottom, heights), speedup in zip(bars, [4, 8, whole], strict=True):
            self.assertIn("baseline/clocks", label)
            self.assertEqual(bottom, 1)
            for height in heights:
                self.assertAlmostEqual(height, speedup - 1)
        # The ways alternate, and each has as many cores as workers, also the baseline.
        cores = len(os.sched_getaffinity(0))
        calls = [(kernel, way, n, min(n, cores)) for kernel in HIGH for n in (1, 2)
                 for _ in range(3) for way in ("baseline", "clocks")]
        self.assertEqual([tuple(c[:4]) for c in self.log()], calls)
        self.assertEqual([c[4] for c in self.log()[:2]], [["--repeat", "1", "--nodes", "64"],
                                                         ["--repeat", "5", "--nodes", "64"]])

    def test_figure_23(self):
        result = self.compare("--figure", 23, "--repetitions", 1, "--plot", "p")
        counts = [2**i for i in range(16) if 2**i <= len(os.sched_getaffinity(0))]
        self.assertEqual([(x["kernel"], x["workers"], x["speedups"]) for x in result["measured"]],
                         [(k, n, {"baseline/finish": 8 * n, "clocks/finish": 2})
                          for k in LOW for n in counts])
        names, bars = json.loads((self.folder / "p").read_text())
        self.assertEqual(names, LOW + ["low"])
        self.assertEqual([label.split(",")[0] for label, *_ in bars], QUOTIENTS[1:])

    def test_without_a_figure(self):
        result = self.compare("--repetitions", 1)
        speedups = dict(zip(QUOTIENTS, [12, 24, 2]))
        self.assertEqual([(x["kernel"], x["workers"], x["speedups"]) for x in result["measured"]],
                         [(k, 3, speedups) for k in HIGH + LOW])
        self.assertEqual([(x["kernel"], x["workers"]) for x in result["means"]],
                         [("high", 3), ("low", 3)])
        for mean in result["means"]:
            for quotient, speedup in mean["speedups"].items():
                self.assertAlmostEqual(speedup, speedups[quotient])

    def test_what_is_wrong_is_told_before_anything_runs(self):
        self.refuses("no program ./nothing: build it with .*--program", program="./nothing")
        self.refuses("pip install matplotlib", "--plot", "p", python=("-S", "-E"))
        self.refuses("--input MIS: wanted KERNEL=FILE", "--input", "MIS")
        self.refuses("--input LCR=f: wanted KERNEL=FILE, KERNEL one of KC", "--kernels", "KC",
                     "--input", "LCR=f")
        self.refuses("--figure 20: wanted --kernels of KC HS LCR BY, found MIS", "--figure", 20,
                     "--kernels", "MIS")
        self.refuses("--sync: wanted both ways of baseline/clocks, found clocks", "--figure", 16,
                     "--sync", "clocks")
        self.refuses("nowhere/json: no such folder", "--json", "nowhere/json")
        self.refuses(r"\./inputmis_\*.txt for MIS, found none; --input MIS=FILE", "--inputs", ".",
                     "--kernels", "MIS")
        for nodes in (128, 512):
            self.write(f"inputmis_{nodes}_-spmax.txt", "")
        self.refuses("for MIS, found 2", "--inputs", ".", "--kernels", "MIS")

    def test_a_program_that_fails_is_told(self):
        self.refuses("imsuite LCR .* failed with code 2: .*/nowhere: wanted an input file",
                     "--kernels", "LCR", "--input", "LCR=/nowhere", program=IMSUITE)
        self.refuses("true KC .* failed with code 0", program="true")


if __name__ == "__main__":
    unittest.main()
