#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""apgas-ps and apgas-top look at running jobs.

Arguments: the program places_observed, 1 if jobs can be started by mpirun, else 0, and then those
of unittest. With APGAS_TEST_PREFIX, the tools of that installation are tested.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAM = sys.argv.pop(1)
WITH_MPI = sys.argv.pop(1) == "1"
PREFIX = os.environ.get("APGAS_TEST_PREFIX")
TOOLS = pathlib.Path(PREFIX) / "bin" if PREFIX else ROOT / "launch"
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(PREFIX) / "share/apgas/tools" if PREFIX
                       else ROOT / "launch/tools"))
import control_socket  # noqa: E402
import running_jobs  # noqa: E402

SINCE = "(, for at least [1-9][0-9]* s)?"
SOURCE = (HERE / "observed.cpp").read_text().splitlines()


def line(mark):
    """file:line of the line of observed.cpp with that comment, as a pattern."""
    number = next(i for i, text in enumerate(SOURCE, 1) if re.search(rf"// {mark}$", text))
    return rf"\S*observed\.cpp:{number}\b"


def environment(**variables):
    plain = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    return plain | {"APGAS_WORKERS": "2"} | variables


@contextlib.contextmanager
def job(mode, ends=True, **variables):
    """A job in that state. At the end it ends by itself, or is killed if `ends` is false."""
    process = subprocess.Popen([PROGRAM, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment(**variables),
                               start_new_session=True)
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        yield process
        process.stdin.close()
        if ends:
            process.stdin = None  # for communicate()
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdout, process.stderr):
            stream.close()


def members(process):
    """The processes of places that the job of the process has, sorted by place."""
    pids = {int(pid) for pid in subprocess.run(
        ["pgrep", "-s", str(process.pid)], capture_output=True, text=True,
        check=False).stdout.split()}
    return [each for each in control_socket.processes() if each.pid in pids]


def run(tool, *arguments, **variables):
    done = subprocess.run([sys.executable, TOOLS / tool, *map(str, arguments)], check=False,
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **variables))
    return done.returncode, done.stdout, done.stderr


def stop(process):
    """Stops a process, and waits until all its threads have stopped."""
    os.kill(process, signal.SIGSTOP)
    threads = pathlib.Path(f"/proc/{process}/task")
    while any(") T " not in each.read_text() for each in threads.glob("*/stat")):
        time.sleep(0.01)


def report_when(wanted, *arguments):
    """The first report of apgas-ps that matches, since tasks need time to get into their state."""
    deadline = time.monotonic() + 60
    while True:
        code, out, err = run("apgas-ps", *arguments)
        if re.search(wanted, out, re.MULTILINE) or time.monotonic() > deadline:
            return code, out, err


def rows(out):
    return json.loads(out)["jobs"]


class Ps(unittest.TestCase):
    def test_lists_a_job(self):
        with job("suspended") as process:
            code, out, err = run("apgas-ps")
            self.assertNotIn(f" {process.pid} ", err)  # jobs of others may have no answer
            self.assertEqual(code, 3 if err else 0)
            self.assertRegex(out, r"(?m)^JOB +PROGRAM +PLACES +SINCE +WAITING +AWAKE +PROCESSES$")
            self.assertRegex(out, rf"(?m)^{process.pid} +places_observed +0 of 1 +\d\d:\d\d:\d\d +"
                                  rf"\d+ +\d of 2 +{process.pid}$")
            row = next(row for row in rows(run("apgas-ps", "--json")[1])
                       if row["job"] == str(process.pid))
        self.assertEqual((row["processes"], row["places_here"]), ([process.pid], [0]))
        self.assertLess(abs(row["started"] - time.time()), 600)
        self.assertNotIn(str(process.pid), [row["job"] for row in
                                            rows(run("apgas-ps", "--json")[1])])

    def test_leaves_out_a_job_that_ends_meanwhile(self):
        with foreign_socket(os.getpid(), b"", once=True) as (name, _):
            self.assertIn(name, [each.name for each in running_jobs.running_jobs()])
            code, out, err = run("apgas-ps")
        self.assertNotIn(name, out + err)
        self.assertEqual(code, 3 if err else 0)

    def test_lists_a_job_that_does_not_answer(self):
        for answer, message in ((b"x" * 24, "answers with another protocol"),
                                (b"", "has ended, or its run has")):
            with foreign_socket(os.getpid(), answer) as (name, pid):
                code, out, err = run("apgas-ps")
            self.assertEqual(code, 3)
            self.assertRegex(out, rf"(?m)^{name} +\S+ +\? +\? +\? +\? +{pid}$")
            self.assertRegex(err, rf"(?m)^apgas-ps: place 0 of job {name} \(process {pid}\) "
                                  f"{message}$")

    def test_reports_what_tasks_wait_for_without_a_watchdog(self):
        with job("suspended") as process:
            code, out, err = report_when(r"(?s)(?=.* 3 in latch)(?=.* 4 in a phase)(?=.*semaphore)"
                                         r"(?=.*main, in blocking)", process.pid)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, rf"^job {process.pid}: places_observed, 1 place, since ")
        self.assertRegex(out, rf"(?m)^ +3 in latch::wait at {line('latch')}, spawned at "
                              rf"{line('spawn of waiting')}{SINCE}$")
        self.assertRegex(out, rf"(?m)^ +1 in semaphore::acquire at {line('acquire')}, \"writer\", "
                              rf"spawned at {line('spawn of writer')}{SINCE}$")
        self.assertRegex(out, rf"(?m)^ +4 in a phase of a clock at {line('advance')}, spawned at "
                              rf"{line('advance')}{SINCE} \(phase 0 of the clock made at "
                              rf"{line('clock made')} awaits the task that is registered on it and "
                              r"has not arrived: main, in blocking at \S*observed.cpp:\d+\)$")

    def test_reports_what_workers_run(self):
        with job("computing") as process:
            wanted = rf"workers 0-1 run tasks spawned at {line('spawn of computing')}"
            code, out, err = report_when(wanted, process.pid)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, wanted)
        self.assertRegex(out, "2 of 2 workers run tasks, ")
        self.assertRegex(out, "tasks? in queues")

    def test_all_places_of_one_process(self):
        with job("suspended", APGAS_TRANSPORT="local", APGAS_PLACES="3") as process:
            _, out, _ = report_when(r"(?s)(place \d.*3 in latch.*){3}", "places_observed")
        self.assertEqual(re.findall(r"(?m)^place (\d) on", out), ["0", "1", "2"])
        self.assertEqual(len(re.findall(r" 3 in latch::wait", out)), 3)

    def test_all_places_make_a_report_together(self):
        with job("suspended", APGAS_TRANSPORT="local", APGAS_PLACES="2") as process:
            _, out, err = report_when(r"6 in latch.* at places 0 and 1",
                                      process.pid)
            answer = json.loads(run("apgas-ps", process.pid, "--json")[1])
        self.assertEqual(err, "")
        self.assertRegex(out, r"\nall places together:\n  .* 6 in latch::wait at .* at places 0 "
                              "and 1")
        self.assertTrue(any("latch" in text for text in answer["all_places"]))

    def test_json(self):
        with job("suspended") as process:
            report_when(r" 3 in latch", process.pid)
            answer = json.loads(run("apgas-ps", process.pid, "--json")[1])
        (place,) = answer["processes"][0]["places"]
        self.assertIn(3, [group["tasks"] for group in place["groups"]
                          if group["construct"] == "latch::wait"])
        self.assertEqual(len(place["workers"]), 2)

    def test_all_places_are_asked_by_messages_for_other_hosts(self):
        with job("suspended", APGAS_TRANSPORT="local", APGAS_PLACES="3") as process:
            places = control_socket.ask(members(process)[0], "activity of all places")["places"]
        self.assertEqual([place["place"] for place in places], [0, 1, 2])
        self.assertTrue(all(place["counters"]["workers"] == 2 for place in places))
        with job("computing") as process:
            report_when("workers 0-1 run", process.pid)
            for _ in range(2):  # the second question finds the first one unanswered
                with self.assertRaises(control_socket.NotNow):
                    control_socket.ask(members(process)[0], "activity of all places")
            code, out, _ = run("apgas-ps", process.pid)
            self.assertEqual(code, 0)
            self.assertIn("workers 0-1 run", out)

    @unittest.skipUnless(WITH_MPI, "there is no mpirun")
    def test_several_processes(self):
        with job("suspended", APGAS_PLACES="2") as process:
            _, out, err = report_when(r"(?s)place 0.*3 in latch.*place 1.*3 in latch",
                                      members(process)[1].pid)
            first, second = members(process)
            listed = next(row for row in rows(run("apgas-ps", "--json")[1])
                          if row["processes"] == [first.pid, second.pid])
        self.assertEqual(err, "")
        self.assertEqual(re.findall(r"(?m)^place (\d) on", out), ["0", "1"])
        self.assertEqual((listed["places_here"], listed["job_places"]), ([0, 1], 2))
        self.assertEqual(first.job, second.job)


class Stacks(unittest.TestCase):
    def setUp(self):
        try:
            ctypes.CDLL("libdw.so.1")
        except OSError:
            if os.environ.get("APGAS_TEST_REQUIRE_TOOLS"):
                self.fail("there is no libdw1 (Debian: apt install libdw1)")
            self.skipTest("there is no libdw1")

    def test_of_suspended_tasks(self):
        with job("suspended") as process:
            report_when(r"(?s)(?=.* 3 in latch)(?=.* 4 in a phase)", process.pid)
            _, out, _ = run("apgas-ps", process.pid, "--stacks")
        self.assertRegex(out, rf"place 0: 3 tasks wait in latch::wait at {line('latch')}.*\n"
                              r"(    #\d+.*\n)*    #\d+ +.*wait_deeply.*observed\.cpp:\d+\n")
        self.assertRegex(out, r"(?s)a phase of a clock.*#\d+ .*clock::advance")
        self.assertRegex(out, r"place 0: 1 task waits in blocking at .*, main\n")
        self.assertNotIn("a task without a spawn site", out)

    def test_of_workers(self):
        with job("computing") as process:
            report_when("workers 0-1 run", process.pid)
            code, out, err = run("apgas-ps", process.pid, "--stacks")
            if "cannot be stopped" in err:
                self.assertEqual(code, 3)
                self.skipTest(err)
            process.stdin.write("alive")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"(?s)thread apgas-0:\n.*compute.*thread apgas-1:\n.*compute")


class Refused(unittest.TestCase):
    def check(self, arguments, code, message):
        got, out, err = run(*arguments)
        self.assertEqual(got, code, (out, err))
        self.assertRegex(err, message)
        self.assertEqual(len(err.splitlines()), 1, err)

    def test_a_job_that_does_not_exist_or_has_ended(self):
        for tool in ("apgas-ps", "apgas-top"):
            once = [] if tool == "apgas-ps" else ["--once"]
            self.check([tool, *once, "4194305"], 1, f"^{tool}: there is no job, process or program "
                                                    "'4194305' here; it may have ended")
            self.check([tool, *once, "no-such-program"], 1, "no-such-program")

    def test_a_process_that_is_no_place(self):
        with subprocess.Popen(["sleep", "100"]) as process:
            self.check(["apgas-ps", process.pid], 1,
                       rf"process {process.pid} \(\w+\) is no place of a job")
            process.kill()

    def test_a_program_with_control_off(self):
        with job("suspended", APGAS_CONTROL="off") as process:
            self.assertEqual(members(process), [])
            self.check(["apgas-ps", process.pid], 1, "was started with APGAS_CONTROL=off")

    def test_a_name_that_means_two_jobs(self):
        with job("suspended"), job("suspended"):
            for tool in (["apgas-ps"], ["apgas-top", "--once"]):
                self.check([*tool, "places_observed"], 2,
                           r"means 2 jobs: \d+ \(places_observed\), ")
            self.check(["apgas-top", "--once"], 2, r"\d+ jobs run here: ")

    def test_a_stopped_process(self):
        with job("suspended") as process:
            stop(process.pid)
            try:
                self.check(["apgas-ps", process.pid], 3,
                           f"process {process.pid}.* is stopped, .*kill -CONT {process.pid}")
                self.check(["apgas-top", "--once", process.pid], 3, "is stopped")
            finally:
                os.kill(process.pid, signal.SIGCONT)

    @unittest.skipUnless(WITH_MPI, "there is no mpirun")
    def test_one_stopped_place_of_two(self):
        with job("suspended", APGAS_PLACES="2", APGAS_HEARTBEAT="0") as process:
            first, second = members(process)
            stop(second.pid)
            try:
                code, out, err = run("apgas-ps", first.pid)
            finally:
                os.kill(second.pid, signal.SIGCONT)
        self.assertEqual(code, 3)
        self.assertRegex(err, f"^apgas-ps: place 1 of .*process {second.pid}.* is stopped.*\n$")
        self.assertRegex(out, rf"(?m)^place 0 on .*process {first.pid}")
        self.assertRegex(out, r"(?s)all places together:.*place 1")

    def test_another_program_at_such_an_address(self):
        with foreign_socket() as (name, pid):
            self.check(["apgas-ps", name], 3, rf"the address of .*\(process {pid}\) is used by "
                                              rf"process {os.getpid()} of user ")

    def test_a_socket_that_never_answers_or_talks_nonsense(self):
        for answer, message in ((None, "has not answered for 3 s"),
                                (b"x" * 24, "another protocol"),
                                (struct.pack("<8sIIQ", b"APGASCTL", 9, 0, 0), "speaks version 9"),
                                (struct.pack("<8sIIQ", b"APGASCTL", 1, 0, 2) + b"[x",
                                 "something else than JSON"),
                                (b"", "has ended")):
            with foreign_socket(os.getpid(), answer) as (name, _):
                self.check(["apgas-ps", name], 3, message)

    def test_bad_arguments(self):
        self.check(["apgas-ps", "--stacks"], 2, "--stacks needs a JOB")
        self.check(["apgas-ps", "a", "b"], 2, r"unrecognized arguments: b \(try apgas-ps --help\)")
        self.check(["apgas-top"], 2, "there is no terminal: use --once or --batch")
        self.check(["apgas-top", "-n", "2"], 2, "--looks needs --batch")
        for value in ("0", "x", "nan"):
            self.check(["apgas-top", "--batch", "--interval", value], 2,
                       "is not a number of seconds")
        self.check(["apgas-top", "--batch", "-n", "0"], 2, "is not a whole number from 1")

    def test_help(self):
        for tool in ("apgas-ps", "apgas-top"):
            code, out, _ = run(tool, "--help")
            self.assertEqual(code, 0)
            self.assertRegex(out, "(?s)usage: .*Exit codes: 0")


@contextlib.contextmanager
def foreign_socket(pid=None, answer=None, once=False):
    """A socket of this process at the address of a place of process `pid`, by default another one,
    which answers every connection with `answer`, or only one and is then closed."""
    sleeper = None if pid else subprocess.Popen(["sleep", "100"])
    pid = pid or sleeper.pid
    name = f"foreign-{os.getpid()}-{time.monotonic_ns()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0apgas/{os.geteuid()}/{name}/0/{pid}")
        listening.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = listening.accept()[0]
                    if answer is None:
                        held.append(connection)
                        continue
                    connection.recv(1000)
                    if once:
                        listening.close()
                    connection.sendall(answer)
                    connection.close()
                    if once:
                        return

        held = []
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield name, pid
        finally:
            with contextlib.suppress(OSError):  # it is closed already
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in held:
                connection.close()
            if sleeper:
                sleeper.kill()
                sleeper.wait()


if __name__ == "__main__":
    unittest.main()
