#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""apgas-ps --edges lists which tasks await which ones. The first argument is the program
places_awaiting; the others are as for control_test.py, without the program."""

import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

from control_test import TOOLS, WITH_MPI, job, members, report_when, run, stop

SOURCE = pathlib.Path(__file__).with_name("awaiting.cpp").read_text().splitlines()
PLACES = {"APGAS_PLACES": "2", "APGAS_WORKERS": "4"}
LOCAL = dict(PLACES, APGAS_TRANSPORT="local")


def line(mark):
    """file:line of the line of awaiting.cpp with that comment, as a pattern."""
    number = next(i for i, text in enumerate(SOURCE, 1) if re.search(rf"// {mark}$", text))
    return rf"\S*awaiting\.cpp:{number}\b"


LATCH = rf"in latch::wait at {line('act')}"


def edges_of(pid, state=LATCH):
    """The list in which all tasks of the program are; `state` is that of those in act()."""
    waits = ["in finish", "in mutex::lock", "2 tasks in a phase", "in future::get", "in blocking",
             "in a collective", rf"in latch::wait at {line('late wait')}"]
    waits += [rf"spawned at {line(mark)}, place \d, {state}"
              for mark in ("computing", "holder", "remote")]
    code, out, err = report_when("(?s)^job" + "".join(f"(?=.* {each})" for each in waits), pid,
                                 "--edges")
    assert (code, err) == (0, ""), (code, err)
    return out


class Edges(unittest.TestCase):
    def check(self, out, state=LATCH):
        self.assertRegex(out, rf"(?m)^place 0: 2 tasks in a phase of a clock at {line('phase')}, "
                              rf"spawned at {line('advance')} \(phase 0 of the clock made at "
                              rf"{line('clock made')}\), await the task that is registered on it "
                              rf"and has not arrived: spawned at {line('late')}, place 0, in "
                              rf"latch::wait at {line('late wait')}$")
        self.assertRegex(out, rf"(?m)^place 0: 1 task in mutex::lock at {line('lock')}, spawned at "
                              rf"{line('locker')}, awaits the task that has locked it: spawned at "
                              rf"{line('holder')}, place 0, {state}$")
        self.assertRegex(out, rf"(?m)^place 0: 1 task in future::get at {line('get')}, spawned at "
                              rf"{line('getter')}, awaits the task that computes its value: "
                              rf"spawned at {line('computing')}, place 0, {state}$")
        finish = rf"(?m)^place 0: 1 task in finish at {line('finish')}, main, awaits "
        self.assertRegex(out, finish + rf"2 tasks, each of which belongs to it: spawned at "
                                       rf"{line('advance')}, place 0, in a phase of a clock at ")
        self.assertRegex(out, finish + rf"the task that belongs to it: spawned at "
                                       rf"{line('remote')}, place 1, {state}$")
        self.assertRegex(out, r"(?m)^place 1: 1 task in a collective of a team at .*, awaits the "
                              r"call of place 0$")

    def test_of_a_job_in_which_all_tasks_wait(self):
        with job("hanging", **LOCAL) as process:
            out = edges_of(process.pid)
        self.check(out)
        self.assertRegex(out, rf"^job {process.pid}: places_awaiting, 11 tasks wait\n")
        self.assertRegex(out, rf"(?m)^place 1: 1 task {LATCH}, spawned at {line('remote')}, awaits "
                              "no task that is known$")

    def test_of_a_job_in_which_tasks_run(self):
        with job("live", **LOCAL) as process:
            out = edges_of(process.pid, "which runs")
        self.check(out, "which runs")
        self.assertRegex(out, rf"(?m)^place 1: worker \d runs the task spawned at {line('remote')}")

    def test_the_report_beside_running_tasks_has_them_too(self):
        lock = rf"1 in mutex::lock at {line('lock')}, spawned at {line('locker')}, .*at place 0 "
        with job("live", **LOCAL) as process:
            edges_of(process.pid, "which runs")
            out = run("apgas-ps", process.pid)[1]
        self.assertRegex(out, lock + r"\(awaits the task that has locked it: spawned at "
                                     rf"{line('holder')}, place 0, which runs\)")

    @unittest.skipUnless(WITH_MPI, "there is no mpirun")
    def test_of_several_processes(self):
        with job("hanging", **PLACES) as process:
            self.check(edges_of(members(process)[0].pid))

    def test_as_json(self):
        with job("hanging", **LOCAL) as process:
            edges_of(process.pid)
            answer = json.loads(run("apgas-ps", process.pid, "--edges", "--json")[1])
        lock = next(edge for edge in answer["edges"] if edge["construct"] == "mutex::lock")
        self.assertEqual((lock["tasks"], lock["place"]), (1, 0))
        self.assertRegex(lock["where"], line("lock"))
        self.assertEqual((lock["awaits"]["relation"], lock["awaits"]["place"]),
                         ("has locked it", 0))
        self.assertRegex(lock["awaits"]["task"], line("holder"))
        absent = [edge["awaits"] for edge in answer["edges"] if "team" in edge["construct"]]
        self.assertEqual(absent, [{"places": [0]}])
        self.assertEqual(answer["left_out"], {})

    def test_of_many_tasks(self):
        with job("many", **LOCAL) as process:
            out = report_when("(?s)job .*150001 tasks wait.* in at", process.pid, "--edges")[1]
        for place in (0, 1):
            for construct, mark in (("latch::wait", "one of many"), ("at", "caller"),
                                    ("latch::wait", "caller")):
                self.assertRegex(out, rf"(?m)^place {place}: 25000 tasks in {construct} at "
                                      rf"{line(mark)}")
        self.assertRegex(out, r"place 0: 25000 tasks in at at .* \(the call at place 1\), await")
        self.assertLess(len(out.splitlines()), 30, "equal tasks share a line")

    def test_of_a_job_that_ends_meanwhile(self):
        with job("many", ends=False, **LOCAL) as process:
            stop(process.pid)  # so that it cannot answer before it ends
            connected = re.compile(rf"(?m)^\S+ \S+ \S+ 00000000 .* @apgas/\S+/{process.pid}$")
            asked = subprocess.Popen(
                [sys.executable, TOOLS / "apgas-ps", str(process.pid), "--edges"], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while not connected.search(pathlib.Path("/proc/net/unix").read_text()):
                self.assertIsNone(asked.poll(), "it is connected before it ends")
                time.sleep(0.01)
            process.kill()
            out, err = asked.communicate(timeout=60)
        self.assertEqual((asked.returncode, out), (3, ""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertRegex(err, f"job {process.pid}|process {process.pid}")

    def test_what_makes_no_sense(self):
        for arguments, message in ((["--edges"], "--edges needs a JOB"),
                                   (["x", "--edges", "--stacks"], "one thing at a time")):
            code, _, err = run("apgas-ps", *arguments)
            self.assertEqual((code, len(err.splitlines())), (2, 1))
            self.assertIn(message, err)
        code, _, err = run("apgas-ps", "no-such-program", "--edges")
        self.assertEqual((code, len(err.splitlines())), (1, 1))


if __name__ == "__main__":
    unittest.main()
