#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Failures that end a job of several places. One line names the place, its host and the reason, the
exit code is not 0, and no process is left. docs/reliability.md lists the failures.

Arguments: the program working, the transport, and names of tests.
"""

import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

WORKING, TRANSPORT, *NAMES = sys.argv[1:]
APGAS_RUN = str(pathlib.Path(__file__).resolve().parents[3] / "launch/apgas-run")
PLACES = 3
HOST = re.escape(socket.gethostname())
ENDED = r"ended unexpectedly \(killed, for example by the kernel for lack of memory\)"
LONGEST = 30  # seconds until the line, and from there to the end, under any load
TOOK = {}  # what: [seconds until the line came, and until all was over]


def is_running(process):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


class Job:
    """A run of `working`; the constructor returns when all places work."""

    def __init__(self, *arguments, seconds=60, how="apgas-run", **variables):
        self.mark = f"mark-{uuid.uuid4()}"
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("APGAS_", "OMPI_MCA_", "TMPDIR"))}
        environment.update(variables, APGAS_TRANSPORT=TRANSPORT)
        padding = ["", "0"] if not arguments else []
        program = [WORKING, str(seconds), *arguments, *padding, self.mark]
        if how == "apgas-run":
            program = [sys.executable, APGAS_RUN, "-n", str(PLACES), *program]
        elif how == "mpirun":
            program = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(PLACES),
                       *program]
        else:
            environment["APGAS_PLACES"] = str(PLACES)
        self.errors = tempfile.NamedTemporaryFile("w+")
        self.process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, env=environment, start_new_session=True)
        self.places = {}
        working = False
        while not working or len(self.places) < PLACES:  # lines of places overtake each other
            line = self.process.stdout.readline()
            assert line, "the job ended early"
            working |= line == "working\n"
            if found := re.fullmatch(r"place (\d+) process (\d+) launcher (\d+)\n", line):
                self.places[int(found[1])] = int(found[2])
                self.launcher = int(found[3])
        self.began = time.monotonic()

    def kill(self, place, number):
        os.kill(self.places[place], number)

    def end(self, what):
        """Waits, checks that no process is left, and returns code, output and errors."""
        while not self.heard() and self.process.poll() is None:
            assert time.monotonic() - self.began < LONGEST, f"no line comes within {LONGEST} s"
            time.sleep(0.01)
        said = time.monotonic() - self.began
        out, _ = self.process.communicate(timeout=LONGEST)
        TOOK.setdefault(what, []).append((said, time.monotonic() - self.began))
        deadline = time.monotonic() + LONGEST
        while self.left() and time.monotonic() < deadline:
            time.sleep(0.05)
        errors = self.heard()
        self.errors.close()
        assert not self.left(), f"left behind: {self.left()}; {errors}"
        return self.process.returncode, out, errors

    def heard(self):
        return pathlib.Path(self.errors.name).read_text()

    def left(self):
        found = subprocess.run(["pgrep", "-f", "--", self.mark], capture_output=True, text=True,
                               check=False).stdout.split()
        return [process for process in found if is_running(process)]


def own_lines(text):
    return [line for line in text.splitlines() if re.match("apgas(-run)?: ", line)]


class Case(unittest.TestCase):
    def check(self, job, what, pattern, *codes, only=True):
        code, _, errors = job.end(what)
        self.assertEqual(len(own_lines(errors)), 1, errors)
        self.assertRegex(own_lines(errors)[0], pattern)
        self.assertIn(code, codes, errors)
        if only:  # nothing of Open MPI's
            self.assertEqual(len(errors.splitlines()), 1, errors)

class KilledPlaces(Case):
    def test_kill_9(self):
        for place in (0, 1):
            job = Job()
            job.kill(place, signal.SIGKILL)
            self.check(job, "kill -9 of a place",
                       rf"^apgas: place {place} on {HOST} {ENDED}; this ends the job$", 137)

    def test_kill_9_of_a_place_started_by_itself(self):
        for place in (0, 1):
            job = Job(how="itself")
            job.kill(place, signal.SIGKILL)
            self.check(job, "kill -9, APGAS_PLACES", f"place {place} on {HOST} {ENDED}", 137)

    def test_kill_9_under_plain_mpirun(self):
        for place in (0, 1):
            job = Job(how="mpirun")
            job.kill(place, signal.SIGKILL)
            self.check(job, "kill -9, mpirun", f"place {place} on {HOST} {ENDED}", 137,
                       only=False)

    def test_signals_from_outside(self):
        for place in (0, 1):
            for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM):
                job = Job()
                job.kill(place, number)
                self.check(job, f"signal {number:d} to a place",
                           rf"^apgas: place {place} on {HOST}: ended by signal {number:d} "
                           rf"\({signal.strsignal(number)}\)$", 128 + number)


class FailingPlaces(Case):
    def test_in_a_task(self):
        for place in (0, 1):
            for how, number in (("segv", 11), ("abort", 6)):
                self.check(Job(how, str(place)), f"{how} in a task",
                           f"^apgas: place {place} on {HOST}: ended by signal {number} ",
                           128 + number)

    @unittest.skipUnless(TRANSPORT == "shm", "needs memory that places share")
    def test_shared_memory_that_a_place_unmaps(self):
        for place in (0, 1):
            self.check(Job("unmap", str(place)), "unmapped memory",
                       f"^apgas: place {place} on {HOST}: ended by signal 11 ", 139)

    def test_a_stack_that_overflows(self):
        for place in (0, 1):
            self.check(Job("overflow", str(place)), "a stack that overflows",
                       "^apgas: stack overflow in task ", 139)

    def test_an_exception_that_nothing_may_leave(self):
        for place in (0, 1):
            job = Job("throw", str(place))
            self.check(job, "std::terminate", f"place {place} on {HOST}: ended by signal 6 ", 134,
                       only=False)  # the C++ library tells the exception

    def test_a_handler_of_the_program_comes_first(self):
        for place in (0, 1):
            job = Job("own", str(place))
            # The handler ends the process with its own exit code and prints nothing.
            self.check(job, "a handler that exits", f"place {place} on {HOST} {ENDED}", 7)


class PlacesAfterMPI(Case):
    """MPI has ended and detects no failures, and the places wait for each other."""

    def test_kill_9(self):
        for place in (0, 1):
            job = Job("late-kill", str(place), seconds=1)
            self.check(job, "kill -9 after MPI_Finalize",
                       rf"^apgas: place {place} on {HOST} {ENDED}; this ends the job$", 137)

    def test_a_stopped_place(self):
        for place in (0, 1):
            job = Job("late-stop", str(place), seconds=1, APGAS_HEARTBEAT="2")
            self.check(job, "a place stopped after MPI_Finalize, 2 s",
                       rf"^apgas: place {place} on {HOST} has sent no heartbeat for 2 s ", 1,
                       137, only=False)


class KilledLaunchers(Case):
    def test_kill_9_of_mpirun(self):
        job = Job()
        os.kill(job.launcher, signal.SIGKILL)
        self.check(job, "kill -9 of mpirun",
                   "^apgas-run: mpirun was killed by signal 9; the job has ended$", 137)
        job = Job(how="itself")
        os.kill(job.launcher, signal.SIGKILL)
        self.check(job, "kill -9 of mpirun",
                   r"^apgas: mpirun was killed by signal 9 \(Killed\); the job has ended$", 137)

    def test_kill_9_of_plain_mpirun(self):
        job = Job(how="mpirun")
        os.kill(job.launcher, signal.SIGKILL)
        self.assertEqual(job.end("kill -9 of plain mpirun"), (-9, "", ""))  # the shell says it

    def test_kill_9_of_what_started_mpirun(self):
        for how in ("apgas-run", "itself"):
            job = Job(how=how)
            job.process.kill()
            self.assertEqual(job.end("kill -9 of apgas-run")[::2], (-9, ""))


class SilentPlaces(Case):
    def test_a_stopped_place(self):
        for place in (0, 1):
            job = Job(APGAS_HEARTBEAT="2")
            job.kill(place, signal.SIGSTOP)
            self.check(job, "a stopped place, 2 s",
                       rf"^apgas: place {place} on {HOST} has sent no heartbeat for 2 s "
                       r"\(stopped, or its host is overloaded\); this ends the job$", 1,
                       137)

    def test_all_stop_and_go_on(self):
        job = Job(seconds=6, APGAS_HEARTBEAT="1")
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for place in job.places:
                job.kill(place, number)
            time.sleep(3)  # longer than silence may be
        code, out, errors = job.end("all stopped for 3 s")
        self.assertEqual((code, out, errors), (0, "done\n", ""))

    def test_without_a_heartbeat_silence_is_no_failure(self):
        job = Job(seconds=5, APGAS_HEARTBEAT="0")
        job.kill(1, signal.SIGSTOP)
        time.sleep(3)
        job.kill(1, signal.SIGCONT)
        self.assertEqual(job.end("no heartbeat"), (0, "done\n", ""))


class Remains(Case):
    """Files and memory that a job makes: none is left."""

    def shared_memory(self, job, number):
        """What Open MPI has of it for that job: with names, after the number, and without."""
        segments = [line.split() for line in
                    pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
        return ([file.name for file in pathlib.Path("/dev/shm").glob(f"*.{number:x}.*")] +
                [segment for segment in segments if int(segment[4]) in job.places.values()])

    def check(self, how, victim_of):
        with tempfile.TemporaryDirectory() as folder:
            job = Job(how=how, TMPDIR=folder)
            environment = pathlib.Path(f"/proc/{job.places[0]}/environ").read_bytes()
            number = int(re.search(rb"PMIX_NAMESPACE=(\d+)", environment)[1])
            self.assertTrue(self.shared_memory(job, number))
            os.kill(victim_of(job), signal.SIGKILL)
            job.end("files")
            left = [name for _, _, names in os.walk(folder) for name in names]
        if how != "mpirun":  # which cannot remove its folder when it is killed
            self.assertEqual(left, [])
        # Places may end a little later than mpirun when it is killed, and the memory of a process
        # later than its pipes: a program that reads about the process holds it for a moment.
        deadline = time.monotonic() + 25
        while self.shared_memory(job, number) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.shared_memory(job, number), [])

    def test_nothing_is_left(self):
        for how in ("apgas-run", "itself", "mpirun"):
            for what, victim in (("a place", lambda job: job.places[1]),
                                 ("mpirun", lambda job: job.launcher)):
                with self.subTest(how=how, what=what):
                    self.check(how, victim)


def main():
    program = unittest.main(argv=sys.argv[:1] + NAMES, exit=False)
    for what, times in TOOK.items():
        said, over = (statistics.median(each) for each in zip(*times))
        print(f"{what}: said after {said:.2f} s, over after {over:.1f} s (median of {len(times)})")
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
