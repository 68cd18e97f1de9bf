#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that hang are explained, and end with code 124; slow programs are not disturbed.

Arguments: the program places_hangs, and then those of unittest.
"""

import concurrent.futures
import pathlib
import re
import signal
import subprocess
import threading
import time
import unittest

from hang_programs import DEADLOCK, PROGRAM, cases, default_quit, environment, expand, marked_lines

# What the report says of each case: expressions in which $word stands for the marked line.
CYCLES = {
    "two_mutexes": [r"\(awaits the task that has locked it: spawned at $spawn_two, in mutex::lock "
                    r"at $lock_two\)",
                    "waits in mutex::lock at $lock_one for task .*, which has locked it",
                    "waits in mutex::lock at $lock_two for task .*, which has locked it",
                    "spawned at $spawn_one", "spawned at $spawn_two"],
    "mutex_twice": ["task A .* waits in mutex::lock at $again for itself, which has locked it"],
    "future_cycle": ["waits in future::get at $get_one for task .*, which computes its value",
                     "waits in future::get at $get_two for task .*, which computes its value",
                     r"1 in future::wait at $main_waits, main, for \d+ s \(awaits the task that "
                     r"computes its value: spawned at $spawn_two, in future::get at $get_two\)"],
    # Another worker may have stolen the child of main.
    "clock_and_finish": ["at $advance for phase 0 of the clock made at $made for task .*, which "
                         "(runs inside the finish at $finish of main, which )?is registered on it "
                         "and has not arrived",
                         "waits in future::wait at $wait for task .*, which computes its value"],
    "phaser_and_finish": ["at $next for phase 0 of the phaser made at $made for task .*, which "
                          "(runs inside the finish at $finish of main, which )?is registered on it "
                          "as signal_wait and has not arrived",
                          "waits in future::wait at $wait for task .*, which computes its value"],
    "coroutine_and_clock": [
        "at $advance for phase 0 of the clock made at $made for task .*, which is registered on it "
        "and has not arrived",
        "waits in co_await of a future at $await for task .*, which computes its value",
        r"1 in co_await of a future at $await, spawned at $spawn, for \d+ s \(awaits the task that "
        "computes its value: "],
    "shared_mutex_upgrade": ["waits in mutex::lock at $other for task .*, which has locked it",
                             "waits in shared_mutex::lock_shared at $shared for task"],
}
MISSING = {
    "forked_branches": [
        r"1 in mutex::lock at $lock, spawned at $fork, for \d+ s \(awaits the task that has locked "
        "it: main, in fork_join, forall or coforall at $fork[);]",
        r"1 in fork_join, forall or coforall at $fork, main, for \d+ s \(awaits the task that "
        r"belongs to it: spawned at $fork, in mutex::lock at $lock\)"],
    "lost_signal": [r"1 in condition_variable::wait at $wait, main, for \d+ s$"],
    "thread_that_ends": [r"1 in semaphore::acquire at $acquire, main, for \d+ s$"],
    "lock_of_the_library": [
        r"1 in mutex::lock at apgas::test::\(anonymous namespace\)::write_row "
        r"\(the program\+0x[0-9a-f]+\), spawned at "],
    "promise_never_set": [r'1 in future::get at $get, "reader", spawned at $get, for \d+ s \(the '
                          r"promise made at $made\)$"],
    "coroutines_without_a_promise": [
        r'1 in co_await of a future at $await, "reader", spawned at $spawn, for \d+ s \(the '
        r"promise made at $made\)",
        r"1 in finish at $inner, spawned at \S+, for \d+ s \(awaits the task that belongs to it: "
        '"reader", spawned at $spawn, in co_await of a future at $await'],
    "channel_never_sent": [r"1 in channel::receive at $receive, main, for \d+ s$"],
    "channel_full": [r"1 in channel::send at $send, main, for \d+ s$"],
    "semaphore_without_permits": [r"1 in semaphore::acquire at $acquire, main, for \d+ s$"],
    "latch_too_large": [r"2 in latch::wait at $wait, spawned at $wait, for \d+ s(;|$)"],
    "sync_var_never_filled": [r"1 in sync_var::read_fe at $read, main, for \d+ s$"],
    "single_var_never_written": [r"1 in single_var::read_ff at $read, main, for \d+ s$"],
    "when_never_true": [r"1 in when at $when, main, for \d+ s$"],
    "monitor_never_true": [r"1 in when at $when, main, for \d+ s$"],
    "phaser_without_signal": [
        r"1 in a phase of a phaser at $phase, spawned at $phase, for \d+ s \(registered as wait; "
        "phase 0 of the phaser made at $made awaits the task that is registered on it as "
        r"signal_wait and has not arrived: main, in latch::wait at $latch\)",
        r"1 in latch::wait at $latch, main, for \d+ s"],
    "clock_member_waits": [r"50 in latch::wait at $latch, spawned at $latch, for \d+ s(;|$)"],
    "clock_member_lost": [
        r"299 in a phase of a clock at $advance, spawned at $spawn, for \d+ s \(phase 1 of the "
        "clock made at $made awaits the task that is registered on it and has not arrived: spawned "
        r"at $spawn, in semaphore::acquire at $acquire\)", "1 in semaphore::acquire at $acquire"],
}
# Tasks that wait for each other while others run. None of them is a deadlock of all tasks.
BESIDE = {
    "futures_beside_computation": ["waits in future::get at $get_one for task .*, which computes",
                                   "waits in future::get at $get_two for task .*, which computes"],
    "clock_beside_pauses": ["at $advance for phase 0 of the clock made at $made for task .*, which "
                            "(runs inside the finish at $finish of main, which )?is registered on "
                            "it and has not arrived",
                            "waits in future::wait at $wait for task .*, which computes its value"],
    "later_phase_beside_pauses": ["at $advance for phase 3 of the clock made at $made for task .*, "
                                  "which is registered on it and has not arrived",
                                  r"main.* waits in future::wait at $wait for task"],
}
# The beginning of what the report proposes.
REMEDIES = {
    "two_mutexes": "lock these mutexes in the same order",
    "future_cycle": "take out one of these waits",
    "clock_and_finish": "drop the clock or phaser",
    "later_phase_beside_pauses": "drop the clock or phaser",
    "channel_full": "look for the task that should have received",
    "channel_never_sent": "look for the task that should have sent",
    "lost_signal": "wait with a predicate",
    "sync_var_never_filled": "look for the task that should have written",
    "promise_never_set": "look for the task that should have set the promise",
    "clock_member_lost": "look for the task that should have called semaphore::release",
    "when_never_true": "look for the section",
}
NEVER = "this is a deadlock of these tasks"
UNLESS_UNLOCKED = "they can only go on if another task unlocks what one of them has locked"

ALIVE = ["timer", "timed_wait", "blocking_call", "thread_of_the_program", "computation",
         "wait_in_the_kernel", "thread_from_before", "many_pauses",
         "mutex_unlocked_by_another_task", "ready_beside_computations", "long_chain",
         "timed_circle"]

COMPUTATION = (r'place 0: worker \d has been running the task "relaxation" spawned at '
               f"{marked_lines('computation')['spawn']} for ")
BACKTRACE = (r"`apgas::test::\(anonymous namespace\)::relax`:\n"
             r"(apgas: place 0:   #\d [^\n]*\n)*"
             r"apgas: place 0:   #\d [^\n]*::relax\n"
             r"apgas: place 0:   #\d [^\n]*::solve\n")
NEED_NOT = "this need not be a deadlock: "


def ignore_quit():
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)


def wait_for_handler(process):
    """Until the process catches SIGQUIT; before that the signal would end it."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        status = pathlib.Path(f"/proc/{process}/status").read_text()
        caught = re.search(r"^SigCgt:\s+(\w+)$", status, re.M)
        if int(caught[1], 16) >> signal.SIGQUIT - 1 & 1:
            return
        time.sleep(0.05)


def run(case, *more, **variables):
    ended = subprocess.run([PROGRAM, case, *more], env=environment(**variables),
                           capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stderr


class Hangs(unittest.TestCase):
    def check(self, cases, has_cycle, wanted="this is a deadlock: ", unwanted=NEVER):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            runs = {c: pool.submit(run, c, APGAS_DEADLOCK="abort") for c in cases}
        for case, expected in cases.items():
            code, err = runs[case].result()
            with self.subTest(case=case):
                self.assertEqual(code, DEADLOCK, err)
                self.assertIn(wanted, err)
                self.assertNotIn(unwanted, err)
                self.assertIn(f"What to try: {REMEDIES.get(case, '')}", err)
                if has_cycle:
                    self.assertIn("they wait for each other", err)
                marks = marked_lines(case)
                for text in expected:
                    self.assertRegex(err, re.compile(expand(text, marks), re.MULTILINE))

    def test_cycles_are_told_as_a_sentence(self):
        self.check(CYCLES, True)

    def test_the_line_of_the_waiting_call_is_named(self):
        self.check(MISSING, False)

    def test_every_case_is_checked(self):
        self.assertEqual(cases("one"), sorted([*CYCLES, *MISSING, *ALIVE, *BESIDE,
                                               "mutexes_beside_pauses"]))

    def test_tasks_that_wait_for_each_other_are_found_while_others_run(self):
        self.check(BESIDE, False, NEVER, "nothing has run")

    def test_a_circle_of_mutexes_is_told_and_the_program_goes_on(self):
        code, err = run("mutexes_beside_pauses", APGAS_DEADLOCK="abort")
        marks = marked_lines("mutexes_beside_pauses")
        self.assertEqual(code, DEADLOCK, err)
        self.assertRegex(err, expand("^apgas: place 0: some tasks wait for each other, whatever .*"
                                     "waits in mutex::lock at $lock_one for task", marks))
        self.assertRegex(err, re.compile(f"{UNLESS_UNLOCKED}.*nothing has run here", re.DOTALL))

    def test_slow_programs_are_not_disturbed(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            runs = {c: pool.submit(run, c, APGAS_DEADLOCK="abort") for c in ALIVE}
        for case, ended in runs.items():
            with self.subTest(case=case):
                code, err = ended.result()
                self.assertEqual(code, 0, err)
                self.assertNotIn("this is a deadlock", err)
                # A thread of the program might act or not: what waits is printed.
                if case in ("thread_of_the_program", "thread_from_before"):
                    self.assertIn("nothing has run here for 1 s while 1 task waits", err)
                    self.assertIn(NEED_NOT + "1 thread of the program could make a task ready\n",
                                  err)
                elif case != "mutex_unlocked_by_another_task":
                    self.assertEqual(err, "")


class Embedded(unittest.TestCase):
    """Programs with an apgas::runtime, whose thread waits in run()."""

    def test_a_deadlock_ends_the_program(self):
        for settings in ({"APGAS_DEADLOCK": "abort"}, {"APGAS_SEED": "1"}):
            with self.subTest(settings=settings):
                code, err = run("mutex_twice", "embedded", **settings)
                self.assertEqual(code, DEADLOCK, err)
                self.assertIn("waits in mutex::lock at", err)
                self.assertIn("this is a deadlock: no task can run again", err)

    def test_a_thread_that_can_act_is_waited_for(self):
        code, err = run("thread_from_before", "embedded", APGAS_DEADLOCK="abort")
        self.assertEqual(code, 0, err)
        self.assertIn(NEED_NOT + "1 thread of the program could make a task ready\n", err)


class LongTasks(unittest.TestCase):
    def test_a_computation_is_told_once_with_its_backtrace(self):
        code, err = run("computation", APGAS_WATCHDOG="1")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, COMPUTATION + r"\d+ s, now in " + BACKTRACE)
        self.assertEqual(err.count("has been running"), 1, err)

    def test_a_task_that_waits_in_the_kernel_is_told_and_not_disturbed(self):
        code, err = run("wait_in_the_kernel", APGAS_WATCHDOG="1")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"^apgas: place 0: worker \d has been running the task spawned at "
                              r"\S*alive.cpp:\d+ for \d+ s, now in a system call\n$")


class Settings(unittest.TestCase):
    def test_a_watchdog_ends_a_deadlock(self):
        code, err = run("mutex_twice", APGAS_WATCHDOG="1")
        self.assertEqual(code, DEADLOCK, err)

    def test_report_and_off_let_the_program_wait(self):
        for choice, says in (("report", True), ("off", False)):
            with self.subTest(choice=choice):
                with subprocess.Popen([PROGRAM, "mutex_twice"], stderr=subprocess.PIPE, text=True,
                                      env=environment(APGAS_WATCHDOG="1", APGAS_DEADLOCK=choice)
                                      ) as p:
                    ending = threading.Timer(60, p.kill)
                    ending.start()
                    err = ""
                    for line in p.stderr:
                        err += line
                        if ("this is a deadlock" if says else "nothing has run") in line:
                            break
                    time.sleep(1)  # it does not end, nor say more
                    self.assertIsNone(p.poll())
                    ending.cancel()
                    p.kill()
                    err += p.stderr.read()
                self.assertIn("nothing has run here for 1 s", err)
                self.assertEqual("this is a deadlock" in err, says, err)

    def test_a_bad_value_is_refused(self):
        code, err = run("timer", APGAS_DEADLOCK="maybe")
        self.assertEqual(code, 2)
        self.assertIn("APGAS_DEADLOCK", err)
        self.assertIn("auto, abort, report or off", err)


class Signal(unittest.TestCase):
    def report_of(self, case, last="on SIGQUIT", watchdog="100"):
        """The answer to a signal, up to the line that has the text `last`."""
        with subprocess.Popen([PROGRAM, case], stderr=subprocess.PIPE, text=True,
                              env=environment(APGAS_WATCHDOG=watchdog),
                              preexec_fn=default_quit) as p:
            wait_for_handler(p.pid)
            time.sleep(0.5)
            p.send_signal(signal.SIGQUIT)
            lines = ""
            for line in p.stderr:
                lines += line
                if last in line:
                    break
            self.assertIsNone(p.poll())
            p.kill()
        return lines

    def test_a_hanging_program_reports_at_once(self):
        marks = marked_lines("latch_too_large")
        self.assertRegex(self.report_of("latch_too_large"),
                         f"on SIGQUIT, .*2 in latch::wait at {marks['wait']}")

    def test_a_program_without_a_watchdog_reports_as_well(self):
        marks = marked_lines("latch_too_large")
        self.assertRegex(self.report_of("latch_too_large", watchdog="0"),
                         f"^apgas: on SIGQUIT, .*2 in latch::wait at {marks['wait']}")

    def test_what_tasks_await_is_told_while_others_run(self):
        marks = marked_lines("futures_beside_computation")
        for watchdog in "100", "0":
            with self.subTest(watchdog=watchdog):
                out = self.report_of("futures_beside_computation", "wait for each other", watchdog)
                self.assertRegex(out, f"on SIGQUIT, .*1 in future::get at {marks['get_one']}, "
                                      rf"spawned at {marks['spawn_one']}[^;]* \(.*awaits the task "
                                      f"that computes its value: spawned at {marks['spawn_two']}, "
                                      f"in future::get at {marks['get_two']}")
                self.assertRegex(out, r"apgas: (place 0: )?some of them wait for each other: task")

    def test_the_handler_of_a_program_stays(self):
        for settings in ({"APGAS_CONTROL": "off"}, {}):
            ignores = not settings
            with subprocess.Popen([PROGRAM, "latch_too_large"], stderr=subprocess.PIPE, text=True,
                                  env=environment(**settings),
                                  preexec_fn=ignore_quit if ignores else default_quit) as p:
                time.sleep(1)
                p.send_signal(signal.SIGQUIT)
                if ignores:
                    time.sleep(0.5)
                    self.assertIsNone(p.poll())
                    p.kill()
                else:
                    self.assertEqual(p.wait(30), -signal.SIGQUIT)
                self.assertEqual(p.stderr.read(), "")

    def test_a_computing_program_says_which_task_runs(self):
        self.assertRegex(self.report_of("computation", "::solve"),
                         COMPUTATION + r"\d+ s, now in " + BACKTRACE)

    def test_what_is_no_deadlock_is_told(self):
        for case, why in (("timer", r"a timer is set for [012]\.\d s from now"),
                          ("blocking_call", "a call of blocking is running")):
            with self.subTest(case=case):
                self.assertRegex(self.report_of(case, NEED_NOT), f"{NEED_NOT}{why}\n")


if __name__ == "__main__":
    unittest.main()
