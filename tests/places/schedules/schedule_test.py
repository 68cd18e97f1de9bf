#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A seed determines the schedule, and a loop over seeds finds planted races.

Arguments: the programs places_scheduled and places_hangs, apgas-run, and then those of unittest.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "trace"))
from trace_checks import problems  # noqa: E402

SCHEDULED, HANGS, APGAS_RUN = (sys.argv.pop(1) for _ in range(3))
DEADLOCK = 124
STRUCK = 3  # the exit code of a planted race
FINGERPRINT = re.compile(r"schedule fingerprint ([0-9a-f]{16}) of APGAS_SEED=(\d+): (\d+) decisions"
                         r", (\d+) turns(; the seed may not reproduce it.*)?")
ONE_PLACE = {"APGAS_WORKERS": "3"}
THREE_PLACES = {"APGAS_TRANSPORT": "local", "APGAS_PLACES": "3", "APGAS_WORKERS": "2"}


def environment(**variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    return kept | {k: str(v) for k, v in variables.items()}


def run(*command, **variables):
    ended = subprocess.run(command, env=environment(**variables), capture_output=True, text=True,
                           timeout=120, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def fingerprint(case, seed, **variables):
    """The fingerprint of a run that succeeds and that the seed reproduces."""
    code, out, err = run(SCHEDULED, case, APGAS_SEED=seed, APGAS_STATS=1, **variables)
    found = FINGERPRINT.search(err)
    if code != 0 or not found or found[5]:
        raise AssertionError(f"{case}, seed {seed}: code {code}\n{out}{err}")
    return found[1]


def fingerprints(case, seeds, **variables):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda seed: fingerprint(case, seed, **variables), seeds))


def first_that_strikes(case, seeds, **variables):
    for seed in seeds:
        code, out, err = run(SCHEDULED, case, APGAS_SEED=seed, **variables)
        if code != 0:
            return seed, code, out, err
    raise AssertionError(f"{case}: no seed of {seeds} finds the race")


class Fingerprints(unittest.TestCase):
    def check(self, case, **variables):
        seeds = range(1, 51)
        first = fingerprints(case, seeds, **variables)
        self.assertGreaterEqual(len(set(first)), 48, "seeds give the same schedules")
        for _ in range(3):
            self.assertEqual(fingerprints(case, seeds[:10], **variables), first[:10])

    def test_a_seed_repeats_the_schedule_of_several_workers(self):
        self.check("tasks", **ONE_PLACE)

    def test_a_seed_repeats_the_schedule_of_three_places(self):
        self.check("messages", **THREE_PLACES)

    def test_the_number_of_workers_does_not_depend_on_the_machine(self):
        self.assertEqual(fingerprint("tasks", 7), fingerprint("tasks", 7, APGAS_WORKERS=4))


class PlantedRaces(unittest.TestCase):
    CASES = {"made_twice": ONE_PLACE, "lost_update": ONE_PLACE, "two_ways": THREE_PLACES,
             "two_mutexes": ONE_PLACE, "granted_too_late": ONE_PLACE}

    def test_a_loop_over_seeds_finds_them_and_the_seed_repeats_them(self):
        for case, variables in self.CASES.items():
            with self.subTest(case=case):
                seed, code, out, _ = first_that_strikes(case, range(1, 301), **variables)
                self.assertEqual(code, DEADLOCK if case == "two_mutexes" else STRUCK)
                for _ in range(5):
                    again = run(SCHEDULED, case, APGAS_SEED=seed, **variables)
                    self.assertEqual(again[:2], (code, out))
                    self.assertIn(f"APGAS_SEED={seed}", again[2])

    def test_a_deadlock_names_the_circle_and_the_seed(self):
        seed, code, _, err = first_that_strikes("two_mutexes", range(1, 301), **ONE_PLACE)
        self.assertEqual(code, DEADLOCK)
        self.assertIn("they wait for each other", err)
        self.assertIn("this is a deadlock", err)
        self.assertIn(f"the schedule is that of APGAS_SEED={seed}, which repeats it", err)


class Deadlocks(unittest.TestCase):
    def test_each_program_that_hangs_is_ended(self):
        lines = [line.split() for line in run(HANGS)[1].splitlines()]
        names = [words[0] for words in lines if words[1:] != ["several"]]  # places
        alive = {"timer", "timed_wait", "blocking_call", "thread_of_the_program", "computation",
                 "thread_from_before", "many_pauses", "wait_in_the_kernel", "timed_circle",
                 "long_chain",
                 "mutex_unlocked_by_another_task", "ready_beside_computations",
                 "futures_beside_computation"}
        cases = [(name, seed) for name in names if name not in alive for seed in (1, 2)]
        self.assertGreater(len(cases), 30)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(lambda c: run(HANGS, c[0], APGAS_SEED=c[1], APGAS_WORKERS=2),
                                  cases))
        for case, (code, _, err) in zip(cases, ended):
            with self.subTest(case=case):
                self.assertEqual(code, DEADLOCK, err)
                self.assertIn("this is a deadlock", err)

    def test_a_hang_at_another_place_is_found(self):
        code, _, err = run(SCHEDULED, "hangs_elsewhere", APGAS_SEED=1, **THREE_PLACES)
        self.assertEqual(code, DEADLOCK, err)
        self.assertRegex(err, "no task can run at any place while 2 tasks wait: .*"
                              "1 in semaphore::acquire .*at place 2")
        self.assertIn("this is a deadlock", err)

    def test_a_circle_over_places_is_named(self):
        code, _, err = run(HANGS, "two_mutexes_over_places", APGAS_SEED=1, **THREE_PLACES)
        self.assertEqual(code, DEADLOCK, err)
        self.assertIn("they wait for each other", err)

    def test_a_member_of_a_team_that_does_not_come(self):
        for case in "team_member_missing", "two_teams":
            with self.subTest(case=case):
                code, _, err = run(HANGS, case, APGAS_SEED=1, **THREE_PLACES)
                self.assertEqual(code, DEADLOCK, err)
                self.assertRegex(err, r"waits? in barrier at .* of a team for place.*, and .* "
                                      "not called it")

    def test_report_lets_the_program_wait(self):
        with subprocess.Popen([SCHEDULED, "hangs"], stderr=subprocess.PIPE, text=True,
                              env=environment(APGAS_SEED=1, APGAS_DEADLOCK="report")) as p:
            self.assertIn("no task can run here", p.stderr.readline())
            time.sleep(0.5)
            self.assertIsNone(p.poll())
            p.kill()


class Outside(unittest.TestCase):
    def test_a_blocked_thread_does_not_stop_the_others(self):
        for seed in range(1, 40):
            code, _, err = run(SCHEDULED, "blocks_thread", APGAS_SEED=seed, APGAS_STATS=1,
                               **ONE_PLACE)
            self.assertEqual(code, 0, err)
            if "a task or a call blocked its thread" in err:
                self.assertIn(f"APGAS_SEED={seed} may not reproduce this schedule", err)
                self.assertIn("; the seed may not reproduce it, because", err)
                return
        self.fail("no task was blocked")


class Settings(unittest.TestCase):
    def refused(self, text, **variables):
        code, _, err = run(SCHEDULED, "tasks", **variables)
        self.assertEqual(code, 2, err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(text, err)

    def test_a_bad_value_is_refused(self):
        for value in ("abc", "-1", "1.5", "", "9223372036854775808"):
            with self.subTest(value=value):
                self.refused("expected a whole number from 0 to 9223372036854775807",
                             APGAS_SEED=value)

    def test_several_processes_are_refused(self):
        self.refused("set APGAS_TRANSPORT=local to run all places in one process", APGAS_SEED=1,
                     APGAS_PLACES=2)

    def test_a_progress_thread_is_refused(self):
        self.refused("set APGAS_PROGRESS=workers", APGAS_SEED=1, APGAS_PROGRESS="thread")

    def test_a_failing_run_prints_its_seed(self):
        code, _, err = run(SCHEDULED, "fails", APGAS_SEED=17)
        self.assertEqual(code, 5)
        self.assertRegex(err, r"the program ended with the code 5; schedule fingerprint \w+ of "
                              r"APGAS_SEED=17")


class Traces(unittest.TestCase):
    def traced(self, case, seed, **variables):
        """The begins and ends of tasks and waits in their order, without tasks of the library:
        those that end the run are not a part of the schedule."""
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "run.json"
        code, _, err = run(SCHEDULED, case, APGAS_SEED=seed, APGAS_TRACE=path, **variables)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(problems(path), [])
        events = [e for e in json.loads(path.read_text())["traceEvents"]
                  if e.get("cat") in ("task", "wait")]
        events.sort(key=lambda e: e["ts"])
        order, open_slices = [], collections.defaultdict(list)
        for e in events:
            on_track = open_slices[e["pid"], e["tid"]]
            if e["ph"] == "B":
                on_track.append(e["name"])
            name = on_track[-1] if e["cat"] == "task" else e["name"]
            if e["ph"] == "E":
                on_track.pop()
            if name != "internal":
                order.append((e["pid"], e["ph"], name))
        return order

    def check(self, case, **variables):
        orders = []
        for seed in (1, 2, 3, 4):
            first = self.traced(case, seed, **variables)
            self.assertGreater(len(first), 20)
            self.assertEqual(first, self.traced(case, seed, **variables), seed)
            orders.append(first)
        self.assertGreater(len({tuple(order) for order in orders}), 1, "the seed decides")

    def test_two_traces_with_one_seed_have_the_same_events(self):
        self.check("tasks", **ONE_PLACE)

    def test_also_over_places(self):
        self.check("messages", **THREE_PLACES)


class LoopOverSeeds(unittest.TestCase):
    def run_seeds(self, seeds, *command, more=()):
        return run(APGAS_RUN, "-n", "3", "-w", "2", "--seeds", seeds, *more, SCHEDULED, *command)

    def test_it_stops_at_the_first_failure_and_says_how_to_repeat_it(self):
        code, out, err = self.run_seeds("1..300", "two_ways")
        self.assertEqual(code, STRUCK, err)
        self.assertEqual(out, "")
        self.assertIn("the value was read before it was written", err)
        repeat = err.rstrip().splitlines()[-1].split()
        again = subprocess.run(["env", *repeat], env=environment(), capture_output=True, text=True,
                               timeout=60, check=False)
        self.assertEqual(again.returncode, STRUCK, again.stderr)

    def test_it_says_that_all_succeeded(self):
        self.assertEqual(self.run_seeds("1..5", "messages"),
                         (0, "", "apgas-run: all 5 runs succeeded, with the seeds 1 to 5\n"))

    def test_a_bad_range_is_refused(self):
        for seeds in ("9..1", "x", "1..", "1..99999999999999999999"):
            code, _, err = self.run_seeds(seeds, "messages")
            self.assertEqual(code, 2)
            self.assertIn("expected two whole numbers such as 1..1000", err)
        code, _, err = self.run_seeds("1..2", "messages", more=("--transport", "mpi"))
        self.assertEqual(code, 2)
        self.assertIn("--seeds runs all places in one process", err)

    def test_ctrl_c_stops_it(self):
        with subprocess.Popen([APGAS_RUN, "-n", "1", "--seeds", "1..100000", SCHEDULED, "tasks"],
                              stderr=subprocess.PIPE, text=True, env=environment()) as p:
            time.sleep(2)
            p.send_signal(signal.SIGINT)
            self.assertEqual(p.wait(30), 128 + signal.SIGINT)
            self.assertRegex(p.stderr.read(), r"stopped after \d+ of 100000 seeds")

    def test_a_run_that_takes_too_long_fails(self):
        code, _, err = run(APGAS_RUN, "-n", "1", "--seeds", "5", "--timeout", "1",
                           "/bin/sleep", "100")
        self.assertEqual(code, DEADLOCK)
        self.assertIn("did not end within 1 s", err)


if __name__ == "__main__":
    unittest.main()
