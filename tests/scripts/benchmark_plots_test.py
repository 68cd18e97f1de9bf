#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the plots of launch/benchmark: which there are, and that the page shows them.

    benchmark_plots_test.py

The times are made up. The plots need matplotlib, which launch/test installs in build/tools with the
packages of the site. Without it the test is skipped (exit code 77), or fails if
APGAS_TEST_REQUIRE_TOOLS is set.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/bench/report"))
import comparison  # noqa: E402
import papers  # noqa: E402
import programs  # noqa: E402

SKIPPED = 77
MEMBERS = (2, 8, 64)
VARIANTS_OF_RMA = ("apgas", "UCX", "UCX echo")  # with three numbers of places more than colours
SAMPLES = {  # by group: (benchmark, variant, workers, places, ns)
    "spawn": [("fib", "apgas fork_join", 1, 1, 4), ("fib", "oneTBB", 1, 1, 90)],
    "peers": [(f"barrier, N = {n}", variant, workers, 1, 10 * n) for n in MEMBERS
              for variant in ("apgas clock", "Go, goroutines") for workers in (1, 2)],
    "place": [(f"at, {size} there and back", variant, 1, 2, 1000 * number)
              for number, size in enumerate(("8 B", "1 KiB", "1 MiB"), 1)
              for variant in ("apgas at", "UCX")],
    "rma": [(f"copy there, {size}", variant, 1, places, 1000) for places in (1, 2, 4)
            for size in ("4 KiB", "1 MiB") for variant in VARIANTS_OF_RMA],
    "team": [(name, variant, 1, places, places * 500) for places in (1, 2, 4)
             for name in ("barrier", "allreduce, 8 B", "allreduce, 1 MiB")
             for variant in ("apgas team", "MPI")],
    "programs": [("bfs", variant, 1, places, 1000 * places) for places in (1, 2)
                 for variant in ("apgas tasks", "plain MPI")]
                + [("within a place: cg", variant, 1, 1, 1000) for variant in ("apgas", "OpenMP")],
    "pbbs": [(f"PBBS: {kernel}", variant, 1, 1, 1000) for kernel in ("scan, random", "bfs, rmat")
             for variant in ("apgas", "serial")],
    "speed-up": [("speed-up of fib", "apgas", workers, places, 8e9 / workers / places)
                 for workers, places in ((1, 1), (2, 1), (4, 1), (1, 2), (1, 4))],
    "papers": [(f"{papers.IMSUITE}: {kernel}", variant, 2, 1, ns)
               for kernel in ("KC", "BF") for variant, ns in
               (("X10's clocks", 90), ("apgas clocks", 30), ("apgas finish", 20))]
              + [(f"phasers {figures}, n = {n}", variant, 1, 1, n * 20) for n in MEMBERS
                 for figures in ("10 and 11: barrier", "12 and 13: reduction")
                 for variant in ("apgas phaser", "OpenMP")]
              + [(papers.GROWING, variant, 1, 1, 500) for variant in ("apgas phaser", "OpenMP")]
              + [(f"{title}: {label}", variant, 1, 1, ns) for title, label in
                 (("phasers 17", "SOR"), ("Chapel 6", "UTS T1"), ("Chapel 8", "UTS-REC"))
                 for variant, ns in (("apgas begin", 110), ("serial", 100))],
}
PLOTS = {
    "spawn_fib",
    "peers_barrier_workers_1", "peers_barrier_workers_2",
    "place_at_there_and_back", "place_at_there_and_back_rate",
    *(f"rma_copy_there_places_{places}{rate}" for places in (1, 2, 4) for rate in ("", "_rate")),
    "rma_copy_there_4_kib_by_places", "rma_copy_there_1_mib_by_places",
    "team_allreduce", "team_allreduce_rate",
    *(f"team_{name}_by_places" for name in ("barrier", "allreduce_8_b", "allreduce_1_mib")),
    "programs_beside_plain_mpi", "programs_bfs_by_places", "programs_within_a_place",
    "pbbs_kernels_workers_1",
    "speed_up_speed_up_by_workers", "speed_up_speed_up_by_places",
    "papers_uclocks_16", "papers_uclocks_20", "papers_uclocks_23",
    "papers_phasers_10_and_11_barrier", "papers_phasers_12_and_13_reduction",
    "papers_phasers_16_a_barrier_of_2_to_64_members_each_barrier", "papers_phasers_17",
    "papers_chapel_6", "papers_chapel_7", "papers_chapel_8",
}


def python_with_matplotlib():
    for python in (ROOT / "build/tools/bin/python", sys.executable):
        try:
            found = subprocess.run([python, "-c", "import matplotlib"], capture_output=True,
                                   check=False).returncode == 0
        except OSError:
            found = False
        if found:
            return python
    return None


class Plots(unittest.TestCase):
    def draw(self, folder):
        samples = {group: {programs.Key(benchmark, variant, workers, places): [ns, ns * 1.1]
                           for benchmark, variant, workers, places, ns in records}
                   for group, records in SAMPLES.items()}
        report = {"format": comparison.FORMAT, "quick": False, "rounds": 3, "notes": [],
                  "machine": {"cores": 2}, "versions": {}, "cores_used_by_others": 0,
                  "commands": [], "records": comparison.records(samples)}
        file = folder / "made_up.json"
        file.write_text(json.dumps(report), encoding="utf-8")
        done = subprocess.run([python_with_matplotlib(), ROOT / "launch/benchmark", "--from-json",
                               file, "--output", folder / "out"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return folder / "out"

    def test_every_kind_of_plot(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            out = self.draw(pathlib.Path(first))
            self.assertEqual({path.stem for path in out.glob("*.svg")}, PLOTS)
            self.assertEqual({path.stem for path in out.glob("*.png")}, PLOTS)
            page = (out / "index.html").read_text(encoding="utf-8")
            shown = set(re.findall("src='([^']*)[.]png'", page))
            self.assertEqual(shown, PLOTS)
            again = self.draw(pathlib.Path(second))
            for name in PLOTS:  # the same times give the same file, so that it can be committed
                self.assertEqual((out / f"{name}.svg").read_bytes(),
                                 (again / f"{name}.svg").read_bytes(), name)


if __name__ == "__main__":
    if python_with_matplotlib() is None:
        print("skipped: matplotlib is not installed: python3 -m venv build/tools; "
              "build/tools/bin/pip install -r docs/site/requirements.txt", file=sys.stderr)
        sys.exit(1 if os.environ.get("APGAS_TEST_REQUIRE_TOOLS") else SKIPPED)
    unittest.main(verbosity=2)
