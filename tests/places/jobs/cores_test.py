#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how places divide, use and report the cores that their launcher gave them.

Arguments: the library that simulates affinity masks (other_cores.cpp), then those of jobs.py.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import unittest
import uuid

OTHER_CORES = sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "launch/tools"))

import probes  # noqa: E402
from jobs import BEHAVE, INFO, NETWORKS, WITH_MPI, environment_with, main, own_lines  # noqa: E402

HOST = socket.gethostname()
CORES = sorted(os.sched_getaffinity(0))
TWO_SOCKETS = "pack:2 core:8 pu:1"
PLAIN = {"OMPI_MCA_mpi_yield_when_idle": "0"}  # the tests set it for all that use Open MPI


def run(command, **variables):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                          env=environment_with({**PLAIN, **variables}))


def with_masks(masks, program, *arguments, hardware=TWO_SOCKETS, **variables):
    """Runs a program with one place for each mask, on hardware that hwloc simulates."""
    command = ["mpirun", "-n", str(len(masks)), "-x", f"LD_PRELOAD={OTHER_CORES}",
               "-x", f"HWLOC_SYNTHETIC={hardware}", "-x", "APGAS_TEST_MASKS=" + "/".join(masks)]
    return run([*command, program, *arguments], **variables)


def in_one_process(mask, program, **variables):
    return run([program], LD_PRELOAD=OTHER_CORES, HWLOC_SYNTHETIC=TWO_SOCKETS,
               APGAS_TEST_MASKS=mask, **variables)


def each_on_its_core(program, *arguments):
    """Returns the command that runs a program at two places, each on a core of this host."""
    command = ["mpirun"]
    for core in CORES[:2]:
        command += [":"] if len(command) > 1 else []
        command += ["-n", "1", "taskset", "-c", str(core), program, *arguments]
    return command


class Lines(unittest.TestCase):
    """With APGAS_STATS=1, lines describe the cores at the start and the workers at the end."""

    def check(self, result, *expected):
        self.assertEqual(result.returncode, 0, result)
        lines = [line.removeprefix("apgas: ") for line in own_lines(result.stderr)]
        self.assertEqual(lines[1:1 + len(expected)],
                         [line.replace(" on HOST", f" on {HOST}") for line in expected], result)
        workers = re.findall(r"(?m)^place (\d+) .*?, (\d+) worker", "\n".join(expected))
        counts = re.search(r"(?m)^ +workers +(\d.*)$", result.stderr)[1].split()
        at_end = counts[1:] or counts  # the first column is the sum, if there are several places
        self.assertEqual(at_end, [count for _, count in workers], result)

    def check_masks(self, masks, *expected, **way):
        if WITH_MPI:
            self.check(with_masks(masks, BEHAVE, APGAS_STATS="1", **way), *expected)

    def test_a_place_for_each_socket(self):
        for network in NETWORKS:
            with self.subTest(network=network):
                self.check_masks(
                    ["0-7", "8-15"],
                    "place 0 on HOST: cores 0-7, 8 workers, shared with no other place",
                    "place 1 on HOST: cores 8-15, 8 workers, shared with no other place",
                    APGAS_TRANSPORT=network)

    def test_two_places_for_each_socket(self):
        self.check_masks(
            ["0-7", "8-15", "0-7", "8-15"],
            "place 0 on HOST: cores 0-7, 4 workers on 0-3, shared with place 2",
            "place 1 on HOST: cores 8-15, 4 workers on 8-11, shared with place 3",
            "place 2 on HOST: cores 0-7, 4 workers on 4-7, shared with place 0",
            "place 3 on HOST: cores 8-15, 4 workers on 12-15, shared with place 1")

    def test_masks_that_overlap(self):
        self.check_masks(
            ["0-7", "4-11", "12"],
            "place 0 on HOST: cores 0-7, 6 workers on 0-5, shared with place 1",
            "place 1 on HOST: cores 4-11, 6 workers on 6-11, shared with place 0",
            "place 2 on HOST: core 12, 1 worker, shared with no other place")

    def test_places_that_ask_for_workers(self):
        self.check_masks(
            ["0-7", "0-7"],
            "place 0 on HOST: cores 0-7, 2 workers on 0-1, shared with place 1",
            "place 1 on HOST: cores 0-7, 2 workers on 4-5, shared with place 0",
            APGAS_WORKERS="2")

    def test_places_that_do_not_bind(self):
        self.check_masks(
            ["0-7", "0-7"],
            "place 0 on HOST: cores 0-7, 4 workers, shared with place 1",
            "place 1 on HOST: cores 0-7, 4 workers, shared with place 0",
            APGAS_BIND="none")

    def test_more_places_than_cores(self):
        self.check_masks(
            ["3", "2-3", "3"],
            "place 0 on HOST: core 3, 1 worker, shared with places 1 and 2; there are more workers "
            "than cores",
            "place 1 on HOST: cores 2-3, 1 worker on 2, shared with places 0 and 2",
            "place 2 on HOST: core 3, 1 worker, shared with places 0 and 1; there are more workers "
            "than cores")

    def test_hardware_threads_of_a_core(self):
        self.check_masks(
            ["0", "1"],
            "place 0 on HOST: hardware thread 0, 1 worker, shared with no other place; place 1 has "
            "other hardware threads of the same cores",
            "place 1 on HOST: hardware thread 1, 1 worker, shared with no other place; place 0 has "
            "other hardware threads of the same cores",
            hardware="core:2 pu:2")

    def test_more_processors_than_a_fixed_set_holds(self):
        self.check_masks(
            ["2000-2063", "2064-2127"],
            "place 0 on HOST: cores 2000-2063, 64 workers, shared with no other place",
            "place 1 on HOST: cores 2064-2127, 64 workers, shared with no other place")

    def test_places_of_one_process(self):
        self.check(
            in_one_process("0-15", BEHAVE, APGAS_TRANSPORT="local", APGAS_PLACES="3",
                           APGAS_STATS="1"),
            "place 0 on HOST: cores 0-15, 6 workers on 0-5, shared with places 1 and 2",
            "place 1 on HOST: cores 0-15, 5 workers on 6-10, shared with places 0 and 2",
            "place 2 on HOST: cores 0-15, 5 workers on 11-15, shared with places 0 and 1")

    @unittest.skipUnless(WITH_MPI and len(CORES) > 1, "needs MPI and two cores")
    def test_each_place_on_a_core_of_this_host(self):
        for command in (each_on_its_core(BEHAVE, "hello"),
                        ["mpirun", "-n", "2", "--bind-to", "core", BEHAVE]):
            result = run(command, APGAS_STATS="1")
            found = re.findall(r"(?m)^apgas: place (\d) on .*: (.*), (\d) workers?, shared with no "
                               "other place", result.stderr)
            self.assertEqual([place for place, *_ in found], ["0", "1"], result)
            self.assertNotEqual(found[0][1], found[1][1], result)
            self.assertNotIn("more workers than cores", result.stderr)


@unittest.skipUnless(WITH_MPI, "needs MPI")
class Searching(unittest.TestCase):
    """A worker that searches for work yields only if others may need its core."""

    def yields(self, masks):
        """Counts how often the workers of each place yield in 2,000 calls of `at`, by network."""
        for network in NETWORKS:
            result = with_masks(masks, BEHAVE, "trips", "2000", APGAS_TEST_YIELDS="1",
                                APGAS_TRANSPORT=network)
            found = re.findall(r"workers yielded (\d+) times", result.stderr)
            self.assertEqual((result.returncode, len(found)), (0, len(masks)), result)
            yield from map(int, found)

    @unittest.skipUnless(len(CORES) > 1, "needs two cores")
    def test_on_cores_of_their_own(self):
        first, second = CORES[:2]
        for masks in ([f"{first}", f"{second}"], [f"{first},{second}"] * 2):
            for found in self.yields(masks):
                self.assertLess(found, 200, masks)  # threads that wait for a lock yield as well

    def test_on_one_core(self):
        for found in self.yields([f"{CORES[0]}"] * 2):
            self.assertGreater(found, 1000)


class Idle(unittest.TestCase):
    """A warning is printed if the launcher left cores idle."""

    def check(self, masks, *expected, **way):
        if not WITH_MPI:
            return
        result = with_masks(masks, BEHAVE, **way)
        self.assertEqual((result.returncode, own_lines(result.stderr)),
                         (0, [f"apgas: warning: {line}" for line in expected]))

    def test_a_place_on_one_core(self):
        text = ("the launcher bound this place to one core, so it has {}; mpirun --bind-to none "
                "gives it the others")
        self.check(["5"], text.format("one worker"))
        self.check(["2-3"], text.format("2 workers"), hardware="core:4 pu:2")

    def test_places_on_a_core_each(self):
        self.check(["0", "1"],
                   f"the launcher bound each of the 2 places on {HOST} to one core, and other "
                   "cores of the host are idle; mpirun --bind-to none lets the places divide all "
                   "cores")

    def test_no_warning(self):
        self.check(["0-7"])
        self.check(["0", "1-3"])
        self.check(["0", "1"], hardware="core:2 pu:1")
        self.check(["0"], hardware="core:1 pu:1")
        self.check(["0"], APGAS_WORKERS="1")

    def test_no_warning_without_a_launcher(self):
        result = in_one_process("0", BEHAVE)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Info(unittest.TestCase):
    """apgas-info shows the cores that places would get."""

    def places(self, result):
        self.assertEqual(result.returncode, 0, result)
        return re.findall(r"(?m)^places +(.*)$", result.stdout)

    def test_of_this_process(self):
        self.assertEqual(self.places(in_one_process("0-15", INFO)),
                         [f"place 0 on {HOST}: cores 0-15, 16 workers, shared with no other place"])
        self.assertEqual(self.places(in_one_process("0-15", INFO, APGAS_PLACES="2",
                                                    APGAS_WORKERS="3")),
                         [f"place 0 on {HOST}: cores 0-15, 3 workers on 0-2, shared with place 1",
                          f"place 1 on {HOST}: cores 0-15, 3 workers on 8-10, shared with place 0"])

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_of_each_place_of_a_job(self):
        result = with_masks(["0-7", "8-15"], INFO)
        self.assertEqual(self.places(result),
                         [f"place 0 on {HOST}: cores 0-7, 8 workers, shared with no other place",
                          f"place 1 on {HOST}: cores 8-15, 8 workers, shared with no other place"])
        # Only one place shows the settings.
        self.assertEqual(result.stdout.count("APGAS_WORKERS"), 1, result)

    @unittest.skipUnless(WITH_MPI, "needs MPI")
    def test_of_places_that_cannot_start_together(self):
        result = run(["mpirun", "-n", "1", "-x", "APGAS_TRANSPORT=mpi", INFO, ":", "-n", "1", "-x",
                      "APGAS_TRANSPORT=auto", INFO])
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stderr.count("the places do not agree on APGAS_TRANSPORT"), 1)


@unittest.skipUnless(WITH_MPI and len(CORES) > 1, "needs MPI and two cores")
class Doctor(unittest.TestCase):
    """apgas-doctor finds the running places."""

    def test_running_places(self):
        mark = f"mark-{uuid.uuid4()}"
        with subprocess.Popen(each_on_its_core(BEHAVE, "idle", "60", mark),
                              stdout=subprocess.DEVNULL, env=environment_with(PLAIN)) as job:
            try:
                deadline = time.monotonic() + 30
                found = []
                while len(found) < 2 and time.monotonic() < deadline:
                    found = [place for place in probes.places_of_jobs()
                             if mark in pathlib.Path(f"/proc/{place['pid']}/cmdline").read_text()]
            finally:
                job.terminate()
        self.assertEqual([(each["rank"], each["cores"], each["workers"]) for each in found],
                         [(0, [CORES[0]], 1), (1, [CORES[1]], 1)])
        self.assertEqual(len({each["job"] for each in found}), 1)


if __name__ == "__main__":
    main()
