# SPDX-License-Identifier: Apache-2.0
"""A simulated cluster of three hosts, for the duration of a test program.

Arguments of the program: the engine (netns or docker), the folder of an installation with the
programs, the transports to test, and after -- the names of tests. The exit code is 77 if the
cluster cannot run on this host, or 1 with APGAS_TEST_REQUIRE_ENGINE.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import time
import unittest

import own_engine

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docker"))
import namespaces  # noqa: E402

CLUSTER = str(ROOT / "docker/cluster")
ENGINE, PREFIX, *TRANSPORTS = sys.argv[1:]
NAMES = TRANSPORTS[TRANSPORTS.index("--") + 1:] if "--" in TRANSPORTS else []
TRANSPORTS = TRANSPORTS[:-len(NAMES) - 1] if NAMES else TRANSPORTS
# The transports between hosts alone, and shared memory within each host.
WAYS = [*TRANSPORTS, "shm"]
NAME = f"test{os.getpid()}"
HOSTS = ["node1", "node2", "node3"]


def cluster(*arguments, name=NAME, seconds=120):
    return subprocess.run([CLUSTER, "--name", name, *arguments], capture_output=True, text=True,
                          timeout=seconds, check=False)


def up(name, hosts):
    begin = time.monotonic()
    result = cluster("up", "-n", str(hosts), "--engine", ENGINE, "--slots", "2", "--prefix", PREFIX,
                     name=name)
    print(f"{hosts} hosts took {time.monotonic() - begin:.1f} s", flush=True)
    return result


def apgas_run(*arguments):
    return cluster("run", "--", "apgas-run", "--timeout", "100", *arguments)


@contextlib.contextmanager
def an_engine():
    """Makes the engine ready to start hosts. Raises NoEngine."""
    with contextlib.ExitStack() as ends:
        if ENGINE == "docker":
            ends.enter_context(own_engine.running())
            own_engine.make_image()
        elif namespaces.missing():
            raise own_engine.NoEngine(namespaces.missing())
        yield


def run_tests():
    """Runs the tests of the main module; returns the exit code of the program."""
    program = unittest.main(argv=sys.argv[:1] + NAMES, exit=False, verbosity=2)
    return 0 if program.result.wasSuccessful() else 1


def with_cluster(run=run_tests):
    """Calls run() while three hosts are up; returns the exit code of the program."""
    with contextlib.ExitStack() as ends:
        try:
            ends.enter_context(an_engine())
        except own_engine.NoEngine as reason:
            return own_engine.without_tests(reason)
        result = up(NAME, len(HOSTS))
        if result.returncode != 0:
            print(result.stderr)
            return 1
        ends.callback(cluster, "down")
        return run()
