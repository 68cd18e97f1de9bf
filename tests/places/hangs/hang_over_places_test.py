#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that hang over several places are explained as one, and end with code 124; slow programs
are not disturbed.

Arguments: the program places_hangs, the transports that need mpirun (such as ucx,mpi, or empty for
none), and then those of unittest.
"""

import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from hang_programs import DEADLOCK, PROGRAM, cases, default_quit, environment, expand, marked_lines

NETWORKS = [name for name in sys.argv.pop(1).split(",") if name]
NO_MPIRUN = "there is no mpirun"

ABSENT = "which is at a place that has not called it"

# What the report says of each case: expressions in which $word stands for the marked line. A cycle
# may begin at any of its tasks; where a task is first named, its spawn site and place follow.
HANGING = {
    "finish_over_places": ["1 in semaphore::acquire at $acquire, spawned at $acquire.*, at place 1",
                           r"1 in finish at $finish, main, for \d+ s, at place 0 \(awaits the task "
                           "that belongs to it: spawned at $acquire, place 1, in "
                           r"semaphore::acquire at $acquire\)"],
    "at_cycle": ["waits in at at $at_one for task .*, which runs the body of this call",
                 r"task . \(spawned at $at_one, place 1\)",
                 "waits in mutex::lock at $lock for task .*, which has locked it",
                 r"task . \(main, place 0\)",
                 r"1 in at at $at_one, main, for \d+ s, at place 0 \(the call at place 1 awaits "
                 r"the task that runs the body of this call: spawned at $at_one, place 1, in at "
                 r"at $lock\)",
                 r"1 in mutex::lock at $lock, .* at place 0 \(awaits the task that has locked it: "
                 r"main, place 0, in at at $at_one\)"],
    "two_mutexes_over_places": [
        "waits in at at $at_one for task .*, which runs the body",
        "waits in at at $at_two for task .*, which runs the body",
        r"task . \(spawned at $at_one, place 1\)", r"task . \(spawned at $at_two, place 0\)",
        "waits in mutex::lock at $at_one for task .*, which has locked it",
        "waits in mutex::lock at $at_two for task .*, which has locked it",
        "spawned at $spawn_one, place 0", "spawned at $spawn_two, place 1"],
    "clock_over_places": ["at $advance for phase 0 of the clock made at $made for task .*, which "
                          "is registered on it and has not arrived",
                          "waits in mutex::lock at $lock for task .*, which has locked it",
                          "task . .spawned at $spawn_registered, place 1.",
                          "task . .main.*, place 0.", "waits in finish at $finish for task"],
    "phaser_over_places": ["at $next for phase 0 of the phaser made at $made for task .*, which is "
                           "registered on it as signal_wait and has not arrived",
                           r"1 in a phase of a phaser at $next, .*, at place 1 \(registered as "
                           "signal_wait; phase 0 of the phaser made at $made awaits the task that "
                           "is registered on it as signal_wait and has not arrived: main, place 0, "
                           r"in finish at $finish\)",
                           "waits in mutex::lock at $lock for task",
                           "waits in finish at $finish for task"],
    "clock_member_elsewhere": [r"1 in a phase of a clock at $advance, main, .*at place 0 \(phase 0 "
                               "of the clock made at $made awaits the task that is registered on "
                               "it and has not arrived: spawned at $acquire, place 1, in "
                               r"semaphore::acquire at $acquire\)",
                               "1 in semaphore::acquire at $acquire, .*at place 1"],
    "team_member_missing": ["in a collective of a team at $barrier, ",
                            "1 in semaphore::acquire at .*, at place LAST",
                            "waits? in .*barrier at $barrier of a team for place LAST, and place "
                            "LAST has not called it"],
    "barrier_and_at": ["waits in a collective of a team at $barrier for task .*, " + ABSENT,
                       r"task . .spawned at $spawn, place 0.",
                       r"task . .spawned at $spawn_other, place 1.",
                       "waits in at at $at for task .*, which runs the body of this call",
                       "waits in mutex::lock at $lock for task .*, which has locked it"],
    "allreduce_and_future": ["waits in a collective of a team at $allreduce for task .*, " + ABSENT,
                             r"task . .spawned at $spawn, place 1.",
                             r"task . .spawned at $spawn_future, place 0.",
                             "waits in future::get at $get for task .*, which runs the body of"],
    "broadcast_and_clock": ["waits in a collective of a team at $broadcast for task .*, " + ABSENT,
                            "task . .main.*, place 0.",
                            "waits at $advance for phase 0 of the clock made at $made for task .*, "
                            "which is registered on it and has not arrived"],
    "two_teams": ["waits in a collective of a team at $one for task .*, " + ABSENT,
                  "waits in a collective of a team at $other for task .*, " + ABSENT,
                  "waits? in .*barrier at $one of a team for places? 1.*, and .* not called it",
                  "waits? in .*barrier at $other of a team for places? 0.*, and .* not called it"],
    "future_of_another_place": ["waits in future::get at $get for task .*, which runs the body of "
                                "this call", "task . .spawned at $spawn, place 1.",
                                "waits in mutex::lock at $at for task .*, which has locked it"],
    "when_at_another_place": ["1 in when at $when, spawned at $at.*, at place 1",
                              r"1 in at at $at, .*at place 0 \(the call at place 1 awaits the task "
                              r"that runs the body of this call: spawned at $at, place 1, in when "
                              r"at $when\)"],
    "lost_async": ["1 in channel::receive at $receive, .*at place 1",
                   r"1 in finish, main, for \d+ s, at place 0 \(awaits the task that belongs to "
                   r"it: spawned at \S*, place 1, in channel::receive at $receive\)"],
    "finish_of_main": ["PLACES in semaphore::acquire at $acquire, .*at places 0.* LAST"],
    "ring_of_calls": [r"waits in at at \S*over_places.cpp:\d+ for task .*, which runs the body of "
                      "this call", r"task . .spawned at \S*, place LAST.",
                      r"waits in mutex::lock at \S*over_places.cpp:\d+ for task .*, which has"],
    # The child has its own stack if another worker has taken it. There are two cycles.
    "child_of_a_body": ["waits in at at $at for task . .*, which runs (inside a finish of a task "
                        "that runs )?the body of this call",
                        r"waits in (at at $inner|finish at \S*over_places.cpp:\d+) for task",
                        "waits in mutex::lock at $inner for task"],
    "result_into_memory": ["1 in semaphore::acquire at $acquire, spawned at $into.*, at place 1",
                           r"1 in at at $into, .*at place 0 \(the call at place 1 awaits the task "
                           r"that runs the body of this call: spawned at $into, place 1, in "
                           "semaphore::acquire"],
}
CYCLES = ["at_cycle", "two_mutexes_over_places", "clock_over_places", "phaser_over_places",
          "barrier_and_at", "allreduce_and_future", "broadcast_and_clock", "two_teams",
          "future_of_another_place", "ring_of_calls", "child_of_a_body"]
BESIDE = {
    "clock_beside_busy_place": ["at $advance for phase 0 of the clock made at $made for task .*, "
                                "which .*is registered on it and has not arrived",
                                "waits in finish at $finish for task .*, which belongs to it"],
    "futures_of_another_place": ["waits in future::get at $one for task .*, which computes its",
                                 "waits in future::get at $two for task .*, which computes its"],
}
ALIVE = ["sleep_elsewhere", "timed_wait_elsewhere", "blocking_elsewhere", "thread_elsewhere",
         "computation_elsewhere", "computation_here", "late_team_member",
         "late_team_member_after_at", "slow_clock", "long_messages", "pauses_to_and_fro",
         "late_message", "round_trip", "registration_with_the_body"]


def local(places):
    return {"APGAS_PLACES": str(places), "APGAS_TRANSPORT": "local"}


def run(case, ways):
    if case in BESIDE or case == "registration_with_the_body":
        ways = {"APGAS_WATCHDOG": "1"} | ways
    settings = environment(APGAS_DEADLOCK="abort", **ways)
    ended = subprocess.run([PROGRAM, case], env=settings, capture_output=True, text=True,
                           timeout=120, check=False)
    return ended.returncode, ended.stderr


def run_all(names, *ways):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [(name, way, pool.submit(run, name, way)) for name in names for way in ways]
    for name, way, ended in runs:
        yield name, way, *ended.result()


class Hangs(unittest.TestCase):
    def check(self, *ways):
        for case, way, code, err in run_all(HANGING, *ways):
            places = int(way["APGAS_PLACES"])
            marks = marked_lines(case)
            with self.subTest(case=case, way=way):
                self.assertEqual(code, DEADLOCK, err)
                self.assertIn("this is a deadlock", err)
                self.assertEqual(err.count("nothing has run at any place"), 1, err)
                self.assertEqual("they wait for each other: " in err, case in CYCLES, err)
                for text in HANGING[case]:
                    text = text.replace("LAST", str(places - 1)).replace("PLACES", str(places))
                    self.assertRegex(err, expand(text, marks))

    def test_two_places_of_a_process(self):
        self.check(local(2))

    def test_four_places_of_a_process(self):
        self.check(local(4))

    @unittest.skipUnless(NETWORKS, NO_MPIRUN)
    def test_two_processes(self):
        self.check({"APGAS_PLACES": "2"})

    def check_beside(self, *ways):
        for case, way, code, err in run_all(BESIDE, *ways):
            marks = marked_lines(case)
            with self.subTest(case=case, way=way):
                self.assertEqual(code, DEADLOCK, err)
                self.assertIn("this is a deadlock of these tasks", err)
                self.assertNotIn("nothing has run", err)
                for text in BESIDE[case]:
                    self.assertRegex(err, expand(text, marks))

    def test_tasks_that_wait_for_each_other_are_found_while_others_run(self):
        self.check_beside(local(2), local(3))

    @unittest.skipUnless(NETWORKS, NO_MPIRUN)
    def test_they_are_found_in_two_processes(self):
        self.check_beside({"APGAS_PLACES": "2"})

    def test_every_case_is_checked(self):
        self.assertEqual(cases("several"), sorted([*HANGING, *ALIVE, *BESIDE]))


class Alive(unittest.TestCase):
    def check(self, *ways):
        for case, way, code, err in run_all(ALIVE, *ways):
            with self.subTest(case=case, way=way):
                self.assertEqual(code, 0, err)
                self.assertNotIn("this is a deadlock", err)

    def test_slow_programs_are_not_disturbed(self):
        self.check(local(2), local(4))

    @unittest.skipUnless(NETWORKS, NO_MPIRUN)
    def test_slow_programs_of_two_processes_are_not_disturbed(self):
        self.check({"APGAS_PLACES": "2"})


class Reports(unittest.TestCase):
    def test_what_is_no_deadlock_is_told(self):
        for case, why in (("blocking_elsewhere", "place 1: this need not be a deadlock: a call of "
                           "blocking is running"),
                          ("thread_elsewhere", "this need not be a deadlock: 1 thread of the "
                           "program could make a task ready")):
            with self.subTest(case=case):
                err = run(case, local(2) | {"APGAS_WATCHDOG": "1"})[1]
                self.assertIn("nothing has run at any place for 1 s", err)
                self.assertIn(why, err)

    def test_a_long_computation_names_its_place(self):
        code, err = run("computation_elsewhere", local(2) | {"APGAS_WATCHDOG": "1"})
        self.assertEqual(code, 0, err)
        # The compiler may put the body of the task into the function of the library that calls it.
        self.assertRegex(err, r"place 1: worker \d has been running .* for \d+ s, now in "
                              r"(the body of the task|`.*computation_elsewhere.*:\n)")

    @unittest.skipUnless(NETWORKS, NO_MPIRUN)
    def test_a_signal_to_any_place_is_answered_by_one_report(self):
        marks = marked_lines("finish_over_places")
        with subprocess.Popen([PROGRAM, "finish_over_places"], stderr=subprocess.PIPE, text=True,
                              env=environment(APGAS_PLACES="2", APGAS_WATCHDOG="100"),
                              start_new_session=True, preexec_fn=default_quit) as job:
            try:
                for rank in "1", "0":
                    os.kill(process_of_place(job.pid, rank), signal.SIGQUIT)
                    line = job.stderr.readline()
                    self.assertRegex(line, expand("on SIGQUIT, .*1 in semaphore::acquire at "
                                                  "$acquire, .*, at place 1", marks))
            finally:
                os.killpg(job.pid, signal.SIGKILL)

    @unittest.skipUnless(NETWORKS, NO_MPIRUN)
    def test_a_place_that_is_stopped_is_named_and_is_no_deadlock(self):
        with subprocess.Popen([PROGRAM, "late_message"], stderr=subprocess.PIPE, text=True,
                              env=environment(APGAS_PLACES="2", APGAS_WATCHDOG="100",
                                              APGAS_DEADLOCK="abort"),
                              start_new_session=True, preexec_fn=default_quit) as job:
            stopped = process_of_place(job.pid, "1")
            os.kill(stopped, signal.SIGSTOP)
            os.kill(process_of_place(job.pid, "0"), signal.SIGQUIT)
            report = ""
            while "has not answered" not in report:
                report += job.stderr.readline()
            os.kill(stopped, signal.SIGCONT)
            self.assertEqual(job.wait(60), 0, report)
            self.assertRegex(report,
                             r"on SIGQUIT, (.*\n)+apgas: place 1 has not answered for \d+ s")

    @unittest.skipUnless(NETWORKS, NO_MPIRUN)
    def test_a_stopped_place_is_no_deadlock(self):
        for rank in "0", "1":
            with subprocess.Popen([PROGRAM, "pauses_to_and_fro"], stderr=subprocess.PIPE, text=True,
                                  env=environment(APGAS_PLACES="2", APGAS_DEADLOCK="abort"),
                                  start_new_session=True) as job:
                stopped = process_of_place(job.pid, rank)
                os.kill(stopped, signal.SIGSTOP)
                time.sleep(3)
                os.kill(stopped, signal.SIGCONT)
                err = job.communicate(timeout=60)[1]
                self.assertEqual(job.returncode, 0, err)


def process_of_place(session, rank):
    """Waits until the program of this rank has started main, in the session of the launcher."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    variables = file.read()
                threads = len(os.listdir(f"/proc/{process}/task"))
                if (os.getsid(int(process)) == session and threads > 6 and
                        re.search(rb"(^|\0)OMPI_COMM_WORLD_RANK=%s\0" % rank.encode(), variables)):
                    time.sleep(1)
                    return int(process)
            except (OSError, ValueError):
                pass
        time.sleep(0.1)
    raise TimeoutError(f"place {rank} has not started")


if __name__ == "__main__":
    unittest.main()
