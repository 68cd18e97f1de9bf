# SPDX-License-Identifier: Apache-2.0
"""The commands of gdb on a process and on a core file: gdb_test.py <program> <library>.

The program is suspended.cpp. gdb starts it, so that no right to attach is necessary; one test
attaches, and is skipped where that is not allowed. Exit code 77:
gdb is not installed, and with APGAS_TEST_REQUIRE_TOOLS that is an error instead; or all tests
passed but those that were skipped because this system writes no core file into the current folder.
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMANDS = ["apgas tasks", "apgas where", "apgas finish", "apgas bt 9999", "apgas bt",
            "frame 1", *(f"apgas bt {n}" for n in range(10)), "frame"]
PROGRAM, LIBRARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MARK = "== "
NO_CORE = "not tested on a core file: "
SKIPPED = 77  # ctest shows a test with this exit code as skipped
LOAD = pathlib.Path(__file__).resolve().parents[2] / "launch/gdb/load.py"


ENVIRONMENT = os.environ | {"APGAS_TRANSPORT": "local", "APGAS_WORKERS": "2", "APGAS_PLACES": "1"}


def core_file_of(program, folder):
    """Runs the program, which aborts, and returns its core file. Raises SkipTest."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)

    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if "/" in pattern or "|" in pattern:
        raise unittest.SkipTest(f"{NO_CORE}the core files of this system go to {pattern}; "
                                "sysctl -w kernel.core_pattern=core")
    subprocess.run([program], cwd=folder, env=ENVIRONMENT, preexec_fn=limit, timeout=300,
                   stderr=subprocess.DEVNULL, check=False)
    cores = list(pathlib.Path(folder).glob("*core*"))
    if not cores:
        raise unittest.SkipTest(f"{NO_CORE}this system writes none; raise ulimit -H -c")
    return cores[0]


def gdb(*arguments, commands=(), safe=LIBRARY.parent):
    """Runs commands in gdb, and returns their outputs and the output of all together."""
    line = ["gdb", "-batch", "-nx", "-iex", f"set auto-load safe-path {safe}", "-iex",
            "set debuginfod enabled off"]
    for i, command in enumerate(commands):
        line += ["-ex", f"echo \\n{MARK}{i}\\n", "-ex", command]
    done = subprocess.run([*line, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=300, env=ENVIRONMENT, check=False)
    parts = re.split(rf"(?m)^{MARK}\d+\n", done.stdout)
    return parts[1:], done.stdout


def run_tests(argv):
    """Runs the tests, and ends the program. If all pass, but some need a core file and there is
    none, one line says so, and the exit code is 77."""
    result = unittest.main(argv=argv, exit=False).result
    without = [reason for _, reason in result.skipped if reason.startswith(NO_CORE)]
    if result.wasSuccessful() and without:
        print(without[0], file=sys.stderr)
        sys.exit(SKIPPED)
    sys.exit(not result.wasSuccessful())


START = ["set startup-with-shell off", "set disable-randomization off", "run"]


class Commands(unittest.TestCase):
    """The same expectations on a process and on its core file."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        try:
            cls.core, cls.no_core = core_file_of(PROGRAM, cls.folder.name), None
        except unittest.SkipTest as reason:
            cls.core, cls.no_core = None, reason

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def needs_core(self):
        if self.core is None:
            raise self.no_core

    def check(self, outputs, runs="abort"):
        tasks, where, finish, unknown, without = outputs[:5]
        line = r"[^ ]*suspended.cpp:\d+"
        self.assertRegex(tasks,
                         rf"waits in mutex::lock at {line}: \"writer\", spawned at {line}")
        self.assertRegex(tasks, r"waits in a phase of a clock at .*: spawned at .*suspended")
        latches = re.findall(r"waits in latch::wait at .*: spawned at", tasks)
        self.assertEqual(len(latches), 3, tasks)
        self.assertRegex(tasks, r"worker [01] +running in thread \d+: ")
        self.assertIn("6 tasks with a stack, 2 without one", tasks)
        reader = rf"waits in co_await of a future at {line}: \"reader\", spawned at {line}"
        self.assertEqual(len(re.findall(rf"(?m)^ +- +{reader}$", tasks)), 2, tasks)
        self.assertRegex(where, rf"(?m)^ +2  {reader}  \(without a stack\)$")
        self.assertRegex(finish, r"tasks .*, 2 without a stack")
        self.assertRegex(where.lstrip(),
                         r"^3  waits in latch::wait at .*: spawned at .*\(apgas bt ")
        self.assertRegex(finish, r"0x[0-9a-f]+  count \d+.*; tasks (\d+, )*\d+")
        self.assertIn("there is no task 9999", unknown)
        self.assertIn("say which task", without)

        def stack_of(text):
            found = re.search(rf"(?m)^ *(\d+) .*{text}", tasks)
            self.assertIsNotNone(found, f"{text} in {tasks}")
            return outputs[COMMANDS.index(f"apgas bt {found[1]}")]

        waiting, writer = stack_of("latch::wait"), stack_of("writer")
        phase, running = stack_of("a phase of a clock"), stack_of("running")
        self.assertEqual(len(re.findall("wait_deeply", waiting)), 5, waiting)
        self.assertRegex(waiting, r"(?m)^#0 .*scheduler")
        self.assertRegex(waiting, r"(?m)^#\d+ .*suspended.cpp:\d+")
        self.assertIn("mutex::lock", writer)
        self.assertIn("clock::advance", phase)
        self.assertNotIn("clock::advance", writer)
        self.assertRegex(running, rf"(?s){runs}.*suspend_all")
        for output in waiting, writer, phase:
            self.assertNotIn("corrupt stack", output)
            self.assertNotIn("futex", output, "a frame of the thread")
        self.assertRegex(outputs[COMMANDS.index("frame")], r"(?m)^#1 ", "another frame is selected")

    def test_process(self):
        outputs, said = gdb(PROGRAM, commands=START + COMMANDS)
        if "ptrace" in said and "SIGABRT" not in said:
            self.skipTest(f"gdb must not trace a process here: {said}")
        self.assertEqual(len(outputs), len(START + COMMANDS), said)
        self.check(outputs[len(START):])

    def test_a_process_that_runs(self):
        with subprocess.Popen([PROGRAM, "lingers"], env=ENVIRONMENT, stdout=subprocess.PIPE,
                              text=True) as program:
            try:
                self.assertEqual(program.stdout.readline(), "computes on\n")
                outputs, said = gdb("-p", str(program.pid), commands=COMMANDS)
                self.assertIsNone(program.poll(), "it runs on")
            finally:
                program.kill()
        if "ptrace" in said:
            self.skipTest(f"gdb must not attach to a process here: {said}")
        self.assertEqual(len(outputs), len(COMMANDS), said)
        self.check(outputs, runs="compute_on")

    def test_core_file(self):
        self.needs_core()
        self.assertLess(self.core.stat().st_size, 1 << 31, "most stacks were never in use")
        outputs, said = gdb(PROGRAM, self.core, commands=COMMANDS)
        self.assertEqual(len(outputs), len(COMMANDS), said)
        self.check(outputs)

    def test_the_work_of_a_timer_is_no_task(self):
        wake = "break apgas::v0::sync::(anonymous namespace)::wake"
        outputs, said = gdb(PROGRAM, commands=["set breakpoint pending on", wake, *START,
                                               "apgas tasks", "bt"])
        if "ptrace" in said and "hit Breakpoint 1" not in said:
            self.skipTest(f"gdb must not trace a process here: {said}")
        self.assertRegex(outputs[-1], r"(?s)#0 .*::wake.*#\d+ .*scheduler::loop", said)
        self.assertRegex(outputs[-2], r"(?m)^ +0 .*waits in sleep_for at [^ ]+: main$", said)
        self.assertIn("6 tasks with a stack, 2 without one", outputs[-2], said)

    def test_a_suspended_spawner_and_a_finish(self):
        # One worker: another one might steal the task that aborts, while the spawner still runs.
        start = ["set environment APGAS_WORKERS=1", *START]
        commands = start + ["apgas tasks", "apgas finish", *(f"apgas bt {n}" for n in range(4))]
        outputs, said = gdb("--args", PROGRAM, "drain", commands=commands)
        if "ptrace" in said and "SIGABRT" not in said:
            self.skipTest(f"gdb must not trace a process here: {said}")
        tasks, finishes, *stacks = outputs[len(start):]
        spawner = re.search(r"(?m)^ *(\d+) .*suspended in a spawn, .*: spawned at ", tasks)
        outer = re.search(r"(?m)^ *(\d+) .*waits in finish at [^ ]+: \"outer\"", tasks)
        self.assertRegex(tasks, r"running in thread \d+: \"drained\", spawned at ")
        self.assertTrue(spawner and outer, said)
        self.assertRegex(finishes, rf"count \d+, awaited by task {outer[1]}; tasks ")
        self.assertRegex(stacks[int(spawner[1])], r"(?s)scheduler::drain.*sync::run_async")

    def test_without_debug_information(self):
        self.needs_core()
        stripped = pathlib.Path(self.folder.name, "stripped")
        subprocess.run(["objcopy", "--strip-debug", PROGRAM, stripped], check=True)
        outputs, said = gdb(stripped, self.core, commands=["apgas tasks"])
        if "6 tasks" not in outputs[0]:  # the library has debug information
            self.assertIn("compile the program with -g", outputs[0], said)

    def test_a_core_file_without_symbols(self):
        self.needs_core()
        stripped = pathlib.Path(self.folder.name, "without_symbols")
        subprocess.run(["objcopy", "--strip-all", PROGRAM, stripped], check=True)
        elsewhere = ["-iex", "set sysroot /nonexistent", stripped, self.core]
        lacking = "compile the program with -g|gdb lacks the symbols of apgas"
        for arguments, message in (([stripped, self.core], lacking), (elsewhere, lacking),
                                   (["-c", self.core], "start it as `gdb PROGRAM CORE`")):
            commands = ["apgas tasks", "apgas where", "apgas finish", "apgas bt 1"]
            outputs, said = gdb(*arguments, commands=[f"source {LOAD}", *commands])
            if "6 tasks" in outputs[1]:
                continue  # the library has debug information
            for output in outputs[1:]:
                self.assertRegex(output, message, said)
                self.assertEqual(len(output.strip().splitlines()), 1, said)

    def test_without_a_process(self):
        outputs, said = gdb(PROGRAM, commands=[f"source {LOAD}", "apgas tasks"])
        self.assertIn("start the program first", outputs[1], said)

    def test_another_program(self):
        outputs, said = gdb("/bin/true", commands=[
            f"source {LOAD}", "set startup-with-shell off", "starti", "apgas where"])
        self.assertIn("does not use apgas", outputs[3], said)

    @unittest.skipUnless("APGAS_TEST_PREFIX" in os.environ, "only for an installed library")
    def test_loaded_from_the_prefix(self):
        prefix = pathlib.Path(os.environ["APGAS_TEST_PREFIX"])
        library = next(prefix.glob("lib*/**/libapgas.so")).resolve()
        folder = prefix / "share/gdb/auto-load"
        outputs, said = gdb("-iex", f"add-auto-load-scripts-directory {folder}", PROGRAM, commands=[
            f"set environment LD_LIBRARY_PATH={library.parent}", *START, "info sharedlibrary",
            "apgas tasks"], safe=folder)
        self.assertIn(str(library.parent), outputs[-2], said)
        self.assertIn("6 tasks with a stack", outputs[-1], said)


class WithoutCoreFile(unittest.TestCase):
    def test_is_skipped_with_one_line(self):
        # The limit of the child is a hard one, so that the program leaves no core file.
        done = subprocess.run(["prlimit", "--core=0:0", sys.executable, __file__, PROGRAM, LIBRARY,
                               "Commands.test_core_file"], capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, SKIPPED, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1],
                         "^not tested on a core file: (this system writes none; raise ulimit -H -c"
                         "|the core files of this system go to .*)$")


class WithoutGdb(unittest.TestCase):
    def test_is_skipped_unless_the_tools_must_be_there(self):
        environment = {k: v for k, v in os.environ.items() if k != "APGAS_TEST_REQUIRE_TOOLS"}
        for required, code in (({}, 77), ({"APGAS_TEST_REQUIRE_TOOLS": "1"}, 1)):
            done = subprocess.run([sys.executable, __file__, PROGRAM, LIBRARY], check=False,
                                  env=environment | required | {"PATH": "/nonexistent"},
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (code, ""))
            self.assertIn("gdb is not installed", done.stdout)


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("gdb is not installed (Debian: apt install gdb)")
        sys.exit(1 if os.environ.get("APGAS_TEST_REQUIRE_TOOLS") else SKIPPED)
    run_tests(sys.argv[:1] + sys.argv[3:])
