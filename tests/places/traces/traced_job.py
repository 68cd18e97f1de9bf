# SPDX-License-Identifier: Apache-2.0
"""A job that is traced, and the files that it leaves: what the tests of traces share.

Takes the arguments of trace_test.py from the command line.
"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

from trace_checks import has_perfetto, perfetto_problems, problems

TRACED, MERGE, WITH_MPI = sys.argv[1], sys.argv[2], sys.argv[3] == "1"


def environment(path, **variables):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    with_tools = {"PATH": f"{pathlib.Path(MERGE).parent}:{os.environ['PATH']}"}
    return {**inherited, **with_tools, **variables, "APGAS_TRACE": str(path)}


# Variables with which a program of one process does not find the tool that makes the trace, and so
# leaves the records.
WITHOUT_TOOL = {"PATH": "/nonexistent"}


def job(path, *arguments, timeout=120, most_bytes=None, **variables):
    """Runs the program and returns its code and the lines of the library. With `most_bytes`, no
    file of it becomes larger."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    done = subprocess.run([TRACED, *arguments], env=environment(path, **variables),
                          capture_output=True, text=True, timeout=timeout, check=False,
                          preexec_fn=limit if most_bytes else None)
    return done.returncode, [x for x in done.stderr.splitlines() if x.startswith("apgas: ")]


def ways():
    yield {"APGAS_WORKERS": "1"}
    yield {"APGAS_WORKERS": "3"}
    for places in ("2", "4"):
        yield {"APGAS_PLACES": places, "APGAS_TRANSPORT": "local", "APGAS_WORKERS": "2"}
        if WITH_MPI:
            yield {"APGAS_PLACES": places, "APGAS_WORKERS": "2"}


def num_places(way):
    return int(way.get("APGAS_PLACES", "1"))


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "run.json"

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def leave_records(self, places):
        """Each place of a job of one process leaves its record. Returns the code of the job."""
        return job(self.path, "abort", APGAS_PLACES=str(places), APGAS_TRANSPORT="local",
                   **WITHOUT_TOOL)[0]

    def merge(self, path=None):
        done = subprocess.run([MERGE, path or self.path], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr

    def check(self, path):
        self.assertEqual(problems(path), [])
        if has_perfetto():
            self.assertEqual(perfetto_problems(path), [])
