#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How programs start and end: settings, failures, signals. No process may be left behind.

Arguments: see jobs.py.
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from jobs import (APPS, BEHAVE, INFO, NETWORKS, WITH_MPI, Job, environment_with, is_local,
                  is_relaunched, jobs, main, mpirun, own_lines)

STARTS = int(os.environ.get("APGAS_TEST_STARTS", "5"))


class Start(unittest.TestCase):
    def test_every_way_to_start(self):
        for places in (1, 2, 4):
            for way in jobs(places, NETWORKS):
                with self.subTest(way=way):
                    code, out, err = Job("hello", **way).end()
                    self.assertEqual(code, 0, err)
                    self.assertIn(f"{places} places", out)
                    self.assertEqual(sorted(re.findall(r"hello from place (\d)", out)),
                                     [str(p) for p in range(places)])

    def test_many_starts(self):
        if not WITH_MPI:
            return
        with tempfile.TemporaryDirectory() as folder:
            # A folder for Open MPI's files, also those in shared memory, that no other job uses.
            variables = {"TMPDIR": folder, "OMPI_MCA_btl_vader_backing_directory": folder}
            for i in range(STARTS):
                network = NETWORKS[i % len(NETWORKS)]
                with self.subTest(start=i, network=network):
                    code, out, err = Job("hello", wrapper=mpirun(4), APGAS_TRANSPORT=network,
                                         **variables).end()
                    self.assertEqual(code, 0, out + err)
                    self.assertEqual(sorted(re.findall(r"hello from place (\d)", out)),
                                     ["0", "1", "2", "3"])
                    self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_singleton_does_not_start_mpi(self):
        code, out, _ = Job("hello", PATH="/nonexistent").end()
        self.assertEqual((code, "1 places" in out), (0, True))

    def test_code(self):
        for way in jobs(2):
            with self.subTest(way=way):
                self.assertEqual(Job("code", "7", **way).end()[0], 7)


class Waiting(unittest.TestCase):
    def test_the_watchdog_says_what_waits_at_each_place(self):
        for way in jobs(2):
            with self.subTest(way=way):
                code, _, err = Job("wait", APGAS_WATCHDOG="1", APGAS_WORKERS="1", **way).end()
                self.assertEqual(code, 0, err)
                lines = own_lines(err)
                self.assertEqual(lines[1:], ["apgas: place 1: this need not be a deadlock: a call "
                                             "of blocking is running"], err)
                # The finish at place 1 waits, too, or is below it on the same stack.
                self.assertRegex(lines[0], "apgas: nothing has run at any place for 1 s while "
                                           "(2|3) tasks wait: ")
                self.assertRegex(lines[0], r"1 in at at \S*:\d+, main.*, at place 0")
                self.assertRegex(lines[0], r"1 in blocking at \S*:\d+, \"a \"long\" pause\", "
                                           r"spawned at .*behave.cpp:\d+.*, at place 1")

    def test_the_watchdog_reports_a_finish_that_holds_back_a_phase(self):
        for workers in "1", "2":
            code, _, err = Job("deadlock", APGAS_WATCHDOG="1", APGAS_WORKERS=workers).end()
            self.assertEqual(code, 124, err)
            self.assertRegex(err, "apgas: place 0: nothing has run here for 1 s while .*"
                                  r"1 in a phase of a clock at \S*behave.cpp:\d+, spawned at ")
            # A thread of the program cannot help, so that is found although there is one.
            self.assertIn("this is a deadlock of these tasks", err)

    def test_without_it_nothing_is_said(self):
        code, _, err = Job("wait").end()
        self.assertEqual((code, own_lines(err)), (0, []))


class Refusals(unittest.TestCase):
    """One line that names the setting, code 2, and main is not run."""

    def check(self, reason, **way):
        code, out, err = Job("hello", **way).end()
        self.assertEqual(code, 2, err)
        self.assertEqual(len(own_lines(err)), 1, err)
        self.assertRegex(own_lines(err)[0], reason)
        self.assertNotIn("terminate called", err)
        self.assertNotIn("hello", out)

    def test_bad_settings(self):
        for name, value in (("WORKERS", "0"), ("WORKERS", "many"), ("PLACES", "0"),
                            ("PLACES", "-1"), ("TRANSPORT", "nonsense"), ("STACK_SIZE", "1"),
                            ("STATS", "perhaps")):
            with self.subTest(name=name, value=value):
                self.check(rf"APGAS_{name}={value}: expected", **{f"APGAS_{name}": value})

    def test_bad_settings_under_a_launcher(self):
        if WITH_MPI:
            self.check("APGAS_WORKERS=0: expected", wrapper=mpirun(2), APGAS_WORKERS="0")

    def test_no_mpirun(self):
        self.check("APGAS_PLACES=2 needs mpirun.*APGAS_TRANSPORT=local", APGAS_PLACES="2",
                   PATH="/nonexistent")

    def test_a_folder_is_no_mpirun(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "mpirun"))
            self.check("APGAS_PLACES=2 needs mpirun", APGAS_PLACES="2", PATH=folder)

    def test_too_many_places_for_a_process(self):
        self.check("at most 4096 places", APGAS_PLACES="4097", APGAS_TRANSPORT="local")

    def test_no_memory_for_the_workers(self):
        # MPI and UCX need much less, and a worker's stacks of that size more.
        limit = ["sh", "-c", 'ulimit -v 1000000; export APGAS_STACK_SIZE=64M; exec "$@"', "sh"]
        self.check("ulimit -v", wrapper=limit)
        for way in jobs(2):
            if "wrapper" not in way:
                with self.subTest(way=way):
                    self.check("ulimit -v", wrapper=limit, **way)

    def test_unknown_variables_are_warned_about_once(self):
        for way in jobs(2):
            if "wrapper" in way:
                continue
            with self.subTest(way=way):
                code, _, err = Job("hello", APGAS_WORKRES="1", **way).end()
                self.assertEqual(code, 0)
                self.assertEqual(err.count("APGAS_WORKRES"), 1, err)
                self.assertIn("did you mean APGAS_WORKERS?", err)


class Failures(unittest.TestCase):
    def test_main_throws(self):
        for way in jobs(2):
            for place in ("0", "1"):
                with self.subTest(way=way, place=place):
                    code, _, err = Job("throw", place, **way).end()
                    self.assertEqual(code, 1, err)
                    self.assertEqual(len(own_lines(err)), 1, err)
                    self.assertRegex(err, rf"std::out_of_range: row 7 \(place {place}, spawned at "
                                          r".*behave.cpp:\d+\)")

    def check_ends(self, what, place, way):
        with self.subTest(what=what, place=place, way=way):
            job = Job(what, place, **way)
            code, _, err = job.end(timeout=30)
            self.assertNotEqual(code, 0, err)
            self.assertLess(job.seconds, 20)
            return err

    def test_a_place_that_dies_ends_the_job(self):
        numbers = {"abort": signal.SIGABRT, "kill": signal.SIGKILL, "segv": signal.SIGSEGV}
        for way in jobs(2):
            for place in ("0", "1"):
                for what, number in numbers.items():
                    err = self.check_ends(what, place, way)
                    if not is_relaunched(way):
                        continue
                    name = f"apgas: place {place} on {socket.gethostname()}"
                    if what == "kill":
                        self.assertRegex(err, f"^{name} ended unexpectedly .*\n$")
                    else:
                        self.assertRegex(err, rf"^{name}: ended by signal {number:d} "
                                              rf"\({signal.strsignal(number)}\) in task .*\n$")

    def test_a_crash_with_one_place_names_the_task(self):
        for what, number in (("abort", signal.SIGABRT), ("segv", signal.SIGSEGV)):
            with self.subTest(what=what):
                code, _, err = Job(what, "0").end()
                self.assertEqual(code, -number, err)
                self.assertRegex(err, rf"^apgas: place 0: ended by signal {number:d} "
                                      rf"\({signal.strsignal(number)}\) in task spawned at "
                                      r"\S*behave\.cpp:\d+ .*\n$")

    def test_a_place_that_exits_ends_the_job(self):
        for way in jobs(2):
            for place in ("0", "1"):
                for what in ("exit", "exit0"):
                    err = self.check_ends(what, place, way)
                    lines = err.splitlines() if is_relaunched(way) else own_lines(err)
                    self.assertEqual(len(lines), 1, err)
                    self.assertIn("exits while a run is active", err)

    def test_a_foreign_thread_that_throws_ends_the_job(self):
        for way in jobs(2):
            for place in ("0", "1"):
                err = self.check_ends("foreign", place, way)
                self.assertEqual(err.count("thrown by a foreign thread"), 1, err)
                if is_relaunched(way):  # two of the C++ library, and one that tells the signal
                    self.assertEqual((len(err.splitlines()), len(own_lines(err))), (3, 1), err)

    def test_a_message_for_which_there_is_no_memory(self):
        for network in NETWORKS:
            for place, sender in (("0", "1"), ("1", "0")):
                way = {"wrapper": mpirun(2), "APGAS_TRANSPORT": network,
                       "APGAS_ONE_SIDED": "messages"}
                lines = own_lines(self.check_ends("starve", place, way))
                self.assertEqual(len(lines), 1, lines)
                self.assertRegex(lines[0], r"no memory for a message of 2684\d+ bytes from place "
                                 rf"{sender} on \S+; start fewer places .*ulimit -v")

    def test_a_zero_copy_value_for_which_there_is_no_memory(self):
        for place in ("0", "1"):  # a result, an argument
            err = self.check_ends("starve", place, {"wrapper": mpirun(2)})
            self.assertIn("an exception left the main function", err)
            self.assertIn("std::bad_alloc: std::bad_alloc (place 0, main)", err)
            self.assertIn("The memory did not suffice: use smaller data, or more places", err)

    def check_signal(self, way, number, send):
        with self.subTest(way=way, number=number, send=send.__name__):
            job = Job("idle", "60", **way)
            time.sleep(2)
            send(job.process.pid, number)
            code, _, err = job.end(timeout=20)
            self.assertNotEqual(code, 0)
            if is_relaunched(way):
                killed = number == signal.SIGKILL
                if number == signal.SIGQUIT:  # places may have answered it before they end
                    err = "".join(line for line in err.splitlines() if line[:7] != "apgas: ")
                self.assertEqual((code, err), (-number if killed else 128 + number, ""))

    def test_signals_leave_nothing_behind(self):
        for way in jobs(2):
            for number in (signal.SIGINT, signal.SIGTERM):
                self.check_signal(way, number, os.kill)
        if WITH_MPI:
            for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
                self.check_signal({"APGAS_PLACES": "2"}, number, os.kill)

    def test_a_terminal_signals_all_processes_at_once(self):
        if WITH_MPI:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                self.check_signal({"APGAS_PLACES": "2"}, number, os.killpg)


class Idle(unittest.TestCase):
    def test_waiting_costs_little(self):
        for way in jobs(2):
            with self.subTest(way=way):
                code, out, err = Job("idle", "5", **way).end()
                self.assertEqual(code, 0, err)
                used = [float(x) for x in re.findall(r"used ([\d.]+) s", out)]
                self.assertEqual(len(used), 2, out)
                print(f"{way}: {used} s of processor time in 5 s", flush=True)
                # Places of one process sleep, and so does one that is woken through the pipe of its
                # segment; MPI is asked 2,000 times a second.
                if is_local(way):
                    share = 0.05
                elif "APGAS_TRANSPORT" not in way:
                    share = 0.02
                else:
                    share = 0.20
                self.assertLess(max(used), share * 5)


@unittest.skipUnless((APPS / "fib").exists(), "built without the apps")
class Apps(unittest.TestCase):
    """Promises of apps/support that a second place could break."""

    def test_a_wrong_option_is_told_once(self):
        if not WITH_MPI:
            return
        refused = subprocess.run([*mpirun(2), APPS / "fib", "--bogus"], capture_output=True,
                                 text=True, check=False, timeout=30, env=environment_with({}))
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(refused.stderr.count("--bogus"), 1, refused.stderr)

    def test_output_that_is_lost_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            lost = subprocess.run([APPS / "hello"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=30, env=environment_with({}))
        self.assertEqual(lost.returncode, 1)
        self.assertEqual(len(lost.stderr.splitlines()), 1, lost.stderr)


class Info(unittest.TestCase):
    def run_info(self, *arguments, **variables):
        return subprocess.run([INFO, *arguments], capture_output=True, text=True, check=False,
                              timeout=20, env=environment_with(variables))

    def test_shows(self):
        shown = self.run_info(APGAS_WORKERS="3")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        for what in ("version", "build", "transports", "topology", "stacks", "APGAS_PLACES"):
            self.assertRegex(shown.stdout, rf"(?m)^{what} ")
        self.assertRegex(shown.stdout, r"(?m)^APGAS_WORKERS +3 +workers ")

    def test_help_and_version(self):
        self.assertEqual(self.run_info("--help").returncode, 0)
        self.assertIn("Usage", self.run_info("--help").stdout)
        self.assertRegex(self.run_info("--version").stdout, r"^apgas \d+\.\d+\.\d+\n$")

    def test_wrong_arguments(self):
        for arguments in (("--nonsense",), ("--help", "more"), ("x",)):
            refused = self.run_info(*arguments)
            self.assertEqual(refused.returncode, 2)
            self.assertEqual((refused.stdout, len(refused.stderr.splitlines())), ("", 1))

    def test_bad_and_unknown_settings(self):
        for workers in ("0", "1025"):
            bad = self.run_info(APGAS_WORKERS=workers)
            self.assertEqual((bad.returncode, len(bad.stderr.splitlines())), (2, 1), bad.stderr)
            self.assertRegex(bad.stderr, f"APGAS_WORKERS={workers}: expected .* from 1 to 1024")
        self.assertIn("APGAS_WORKRES", self.run_info(APGAS_WORKRES="1").stderr)


if __name__ == "__main__":
    main()
