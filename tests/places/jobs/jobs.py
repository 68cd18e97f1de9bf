# SPDX-License-Identifier: Apache-2.0
"""Jobs of the program behave, for tests of the start and the end of programs.

Arguments of such a test: the program behave, apgas-info, the transports that need mpirun, the
default first (such as ucx,mpi, or empty for none), and names of tests.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import uuid

BEHAVE, INFO = sys.argv[1], sys.argv[2]
NETWORKS = [name for name in sys.argv[3].split(",") if name]
WITH_MPI, WITH_UCX = bool(NETWORKS), "ucx" in NETWORKS
APPS = pathlib.Path(BEHAVE).parents[2] / "apps"


def environment_with(variables, without=("APGAS_",)):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(without)}
    environment.update(variables)
    return environment


def what_it_does(process):
    """The name, the state and the threads of a process, for the failure of a test."""
    command = ["gdb", "--batch", "-p", process, "-ex", "thread apply all backtrace"]
    try:
        threads = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        threads = "gdb is not installed"
    folder = pathlib.Path("/proc", process)
    try:
        state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
        program = (folder / "cmdline").read_text().replace("\0", " ")
        return f"process {process}: {program} (state {state})\n{threads}"
    except FileNotFoundError:
        return f"process {process} has ended"


def output_of(process, timeout):
    """The output and the errors of a job whose first process is the leader of a session. A job that
    does not end in time is killed, and the test fails with what its processes did."""
    try:
        return process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        members = subprocess.run(["pgrep", "--session", str(process.pid)], capture_output=True,
                                 text=True, check=False).stdout.split()
        found = [what_it_does(member) for member in members]
        for member in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(member), signal.SIGKILL)
        said = ["the job does not end", *process.communicate(), *found]
        raise AssertionError("\n".join(said)) from None


class Job:
    """A run of behave. A unique argument identifies its processes."""

    def __init__(self, *arguments, wrapper=(), **variables):
        self.mark = f"mark-{uuid.uuid4()}"
        padding = ["0"] * max(0, 2 - len(arguments))
        # Plain mpirun gets Open MPI's variables; where they are set, apgas does not silence it.
        without = ("APGAS_",) if wrapper else ("APGAS_", "OMPI_MCA_")
        self.process = subprocess.Popen(
            [*wrapper, BEHAVE, *arguments, *padding, self.mark], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment_with(variables, without),
            start_new_session=True)

    def end(self, timeout=60):
        """Waits, checks that no process is left, and returns code, stdout and stderr."""
        begin = time.monotonic()
        out, err = output_of(self.process, timeout)
        self.seconds = time.monotonic() - begin
        deadline = time.monotonic() + 5
        while self.left_behind() and time.monotonic() < deadline:
            time.sleep(0.1)
        left = self.left_behind()
        assert not left, f"left behind: {left}"
        return self.process.returncode, out, err

    def left_behind(self):
        return subprocess.run(["pgrep", "-f", "--", self.mark], capture_output=True, text=True,
                              check=False).stdout.split()


def mpirun(n):
    return ["mpirun", "-n", str(n)]


def jobs(places, networks=NETWORKS if "APGAS_TEST_ALL_NETWORKS" in os.environ else NETWORKS[:1]):
    """The ways to start this many places, as arguments of Job; over all transports only in the
    long tests."""
    yield {"APGAS_PLACES": str(places), "APGAS_TRANSPORT": "local"}
    if WITH_MPI:
        yield {"APGAS_PLACES": str(places)}
        yield {"wrapper": mpirun(places)}
    for other in networks[1:]:
        yield {"APGAS_PLACES": str(places), "APGAS_TRANSPORT": other}


def is_local(way):
    return way.get("APGAS_TRANSPORT") == "local"


def is_relaunched(way):
    return "wrapper" not in way and not is_local(way)


def own_lines(text):
    return [line for line in text.splitlines() if line.startswith("apgas: ")]


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
