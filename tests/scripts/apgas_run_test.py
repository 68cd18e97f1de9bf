#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what launch/apgas-run refuses, runs and passes on. Argument: 1 to test with mpirun, too."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WITH_MPI = "1" in sys.argv[1:]


def apgas_run(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("APGAS_", "OMPI_MCA_", "SLURM_"))}
    environment.update(variables)
    command = [sys.executable, str(ROOT / "launch/apgas-run"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment,
                          cwd=ROOT, check=False)


def is_running(process):
    """Whether the process exists and is not a zombie."""
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


def ends_soon(process):
    deadline = time.monotonic() + 5
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(process)


class Refusals(unittest.TestCase):
    def check(self, reason, *arguments, **variables):
        result = apgas_run(*arguments, **variables)
        self.assertEqual(result.returncode, 2, result)
        self.assertRegex(result.stderr, reason)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_places(self):
        self.check("required: -n/--places", "true")
        self.check("'0' is not a whole number from 1", "-n", "0", "true")
        self.check("'-1' is not a whole number from 1", "-n", "-1", "true")
        self.check("'two' is not a whole number from 1", "-n", "two", "true")

    def test_workers(self):
        self.check("'0' is not a whole number from 1", "-n", "2", "-w", "0", "true")

    def test_program(self):
        self.check("required: program", "-n", "2")
        self.check("not found on PATH", "-n", "2", "no-such-program")
        self.check("no such file", "-n", "2", "./no-such-program")
        self.check("not executable", "-n", "2", "./LICENSE")
        self.check("is a folder", "-n", "2", "./base")

    def test_options(self):
        self.check("--nonsense", "-n", "2", "--nonsense", "true")
        self.check("no such file", "-n", "2", "--hostfile", "/no/file", "true")
        self.check("is a directory", "-n", "2", "--hostfile", "/tmp", "true")
        self.check("exclude each other", "-n", "2", "--hostfile", "/x", "--hosts", "a", "true")
        self.check("in one process", "-n", "2", "--transport", "local", "--hosts", "a", "true")
        self.check("in one process", "-n", "2", "--hosts", "a", "true", APGAS_TRANSPORT="local")
        self.check("invalid choice", "-n", "2", "--transport", "smoke", "true")
        self.check("share their output", "-n", "2", "--transport", "local", "--label", "true")

    def test_hosts(self):
        for bad, reason in (("", "'' is not a host"), ("a,,b", "'' is not a host"),
                            ("a:0", "'0' is not a number"), ("a:", "'' is not a number"),
                            ("a:2x", "'2x' is not a number"), ("a:-1", "is not a host"),
                            ("a_b", "is not a host"), ("-x", "'-x' is not a host"),
                            ("a b", "is not a host")):
            with self.subTest(bad=bad):
                self.check("--hosts: .*" + reason, "-n", "2", f"--hosts={bad}", "true")
                if bad:
                    self.check("APGAS_HOSTS: .*" + reason, "-n", "2", "true", APGAS_HOSTS=bad)

    def test_hostfile(self):
        for bad, reason in (("", "the file names no host"),
                            ("# none\n\n", "the file names no host"),
                            ("a\nb slots=0", "line 2: '0' is not a number"),
                            ("a 4", "line 1: 'a 4'"),
                            ("a slots=2 max_slots=4", "line 1: .*write name"),
                            ("a:x", "line 1: 'x' is not a number"), ("\0/bin", "line 1")):
            with self.subTest(bad=bad), tempfile.NamedTemporaryFile("w") as file:
                file.write(bad)
                file.flush()
                self.check(reason, "-n", "2", "--hostfile", file.name, "true")
        with tempfile.NamedTemporaryFile("wb") as file:
            file.write(b"\xff\xfe")
            file.flush()
            self.check("not a text file", "-n", "2", "--hostfile", file.name, "true")

    def test_environment(self):
        self.check("'1X' is not the name", "-n", "2", "--env", "1X=2", "true")
        self.check("UNSET: it is not set in", "-n", "2", "--env", "UNSET", "true")
        self.check("use -n for the number", "-n", "2", "--env", "APGAS_PLACES=2", "true")

    def test_no_launcher_names_the_package(self):
        with tempfile.TemporaryDirectory() as empty:
            self.check("apt install openmpi-bin", "-n", "2", sys.executable, PATH=empty)


class Direct(unittest.TestCase):
    """One place, or the local transport: the program itself is started."""

    def test_one_place_needs_no_launcher(self):
        with tempfile.TemporaryDirectory() as empty:
            result = apgas_run("-n", "1", "/bin/sh", "-c", "echo $APGAS_PLACES; exit 3",
                               PATH=empty, APGAS_PLACES="4")
        self.assertEqual((result.stdout, result.returncode), ("1\n", 3))

    def test_local_transport_is_handed_on(self):
        result = apgas_run("-n", "3", "-w", "2", "--transport", "local", "sh", "-c",
                           "echo $APGAS_PLACES $APGAS_WORKERS $APGAS_TRANSPORT")
        self.assertEqual(result.stdout, "3 2 local\n")

    def test_options_after_the_program_are_its_own(self):
        result = apgas_run("-n", "1", "echo", "-n", "--timeout", "-v", "x")
        self.assertEqual((result.stdout, result.stderr), ("--timeout -v x", ""))

    def test_verbose_prints_the_command(self):
        result = apgas_run("-v", "-n", "1", "echo", "a b")
        self.assertRegex(result.stderr, r"apgas-run: \S*echo 'a b'\n")

    def test_label_of_one_place(self):
        result = apgas_run("-n", "1", "--label", "--env", "X=y", "sh", "-c", "echo $X; exit 3")
        self.assertEqual((result.stdout, result.returncode), ("place 0: y\n", 3))

    def test_timeout(self):
        result = apgas_run("-n", "1", "--timeout", "1", "sleep", "60")
        self.assertEqual(result.returncode, 124)
        self.assertIn("did not end within 1 s", result.stderr)

    def test_a_signal_ends_the_program(self):
        command = [sys.executable, str(ROOT / "launch/apgas-run"), "-n", "1", "--timeout", "60",
                   "sh", "-c", "echo $$; exec sleep 60"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
            program = int(job.stdout.readline())
            time.sleep(0.2)
            job.send_signal(signal.SIGTERM)
            self.assertEqual(job.wait(20), 128 + signal.SIGTERM)
        self.assertTrue(ends_soon(program))


@unittest.skipUnless(WITH_MPI, "built without MPI")
class Mpirun(unittest.TestCase):
    SHOW = "echo r=$OMPI_COMM_WORLD_RANK w=$APGAS_WORKERS t=$APGAS_TRANSPORT p=$APGAS_PLACES."

    def test_more_places_than_cores_with_the_settings(self):
        places = len(os.sched_getaffinity(0)) + 1
        result = apgas_run("-n", str(places), "-w", "2", "sh", "-c", self.SHOW,
                           APGAS_TRANSPORT="mpi", APGAS_PLACES="9")
        wanted = [f"r={r} w=2 t=mpi p=." for r in range(places)]
        self.assertEqual(sorted(result.stdout.splitlines()), wanted, result.stderr)

    def test_the_exit_code_is_the_programs(self):
        self.assertEqual(apgas_run("-n", "2", "sh", "-c", "exit 5").returncode, 5)

    def test_timeout_leaves_nothing_behind(self):
        result = apgas_run("-n", "2", "--timeout", "2", "sh", "-c", "echo $$; exec sleep 60")
        self.assertEqual(result.returncode, 124)
        programs = result.stdout.split()
        self.assertEqual(len(programs), 2)
        for program in programs:
            self.assertTrue(ends_soon(program))

    def test_a_place_that_a_signal_ends(self):
        result = apgas_run("-n", "2", "sh", "-c", "kill -9 $$")
        self.assertEqual((result.returncode, result.stderr), (
            137, "apgas: a place was ended by signal 9 (Killed); the job has ended\n"))

    def test_mpirun_says_why_it_refuses_hosts(self):
        result = apgas_run("-n", "3", "--hosts", "no-such-host.invalid", "true")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no-such-host.invalid", result.stderr)

    def test_more_places_than_slots(self):
        result = apgas_run("-n", "3", "--hosts", "localhost:1", "echo", "x")
        self.assertEqual((result.returncode, result.stdout), (0, "x\n" * 3), result.stderr)

    def test_label(self):
        result = apgas_run("-n", "2", "--label", "sh", "-c", "echo out; echo error >&2; exit 3")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(sorted(result.stdout.splitlines()), ["place 0: out", "place 1: out"])
        self.assertEqual(sorted(result.stderr.splitlines()), ["place 0: error", "place 1: error"])

    def labelled(self, output):
        """A job whose labelled output goes there; it has to end before its programs do."""
        command = [sys.executable, str(ROOT / "launch/apgas-run"), "-n", "2", "--label", "sh", "-c",
                   "echo out; exec sleep 60"]
        return subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=50,
                              check=False)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb", buffering=0) as full:
            result = self.labelled(full)
        self.assertEqual(
            (result.returncode, result.stderr),
            (1, "apgas-run: output is lost (No space left on device), ending the job\n"))

    def test_output_that_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = self.labelled(writer)
        os.close(writer)
        self.assertEqual((result.returncode, result.stderr), (128 + signal.SIGPIPE, ""))

    def test_environment_is_handed_on(self):
        result = apgas_run("-n", "2", "--env", "A=1 2", "--env", "B", "sh", "-c",
                           "echo $A $B.$APGAS_HOSTS.", B="3", APGAS_HOSTS="localhost:2")
        self.assertEqual(result.stdout, "1 2 3..\n" * 2, result.stderr)

    def check_signal(self, number, send, *options):
        command = [sys.executable, str(ROOT / "launch/apgas-run"), "-n", "2", *options, "sh", "-c",
                   "echo $$; exec sleep 60"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                              start_new_session=True) as job:
            programs = [int(job.stdout.readline()) for _ in range(2)]
            time.sleep(0.2)
            send(job.pid, number)
            wanted = -number if number == signal.SIGKILL else 128 + number
            self.assertEqual(job.wait(20), wanted)
        for program in programs:
            self.assertTrue(ends_soon(program))

    def test_signals_leave_nothing_behind(self):
        for options in ((), ("--timeout", "60")):
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
                with self.subTest(number=number, options=options):
                    self.check_signal(number, os.kill, *options)

    def test_a_terminal_signals_all_processes_at_once(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number):
                self.check_signal(number, os.killpg)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
