#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""apgas-ps and apgas-top, called by another user than the one whose job runs.

Arguments as for control_test.py. Exit code 77: only root can become another user, by setpriv.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from control_test import TOOLS, job, report_when, run

from control_socket import name_of_user  # its path is set by control_test

SKIPPED = 77
ANOTHER_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]


def python_of_another_user():
    """Returns an interpreter that the other user can start, or None."""
    for python in sys.executable, "/usr/bin/python3":
        with contextlib.suppress(FileNotFoundError):
            tried = subprocess.run([*ANOTHER_USER, python, "-c", "import concurrent.futures"],
                                   cwd="/", capture_output=True, check=False)
            if tried.returncode == 0:
                return python
    return None


PYTHON = python_of_another_user()


class AnotherUser(unittest.TestCase):
    def setUp(self):
        """Copies the tools to a folder that all users can read."""
        self.tools = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tools.chmod(0o755)
        for tool in "apgas-ps", "apgas-top":
            shutil.copy(TOOLS / tool, self.tools)
        modules = next(folder for folder in (TOOLS / "tools", TOOLS.parent / "share/apgas/tools")
                       if folder.exists())
        shutil.copytree(modules, self.tools / "tools")
        subprocess.run(["chmod", "-R", "a+rX", self.tools], check=True)

    def run_as_another_user(self, tool, *arguments):
        done = subprocess.run([*ANOTHER_USER, PYTHON, self.tools / tool, *map(str, arguments)],
                              capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, cwd="/", check=False)
        return done.returncode, done.stdout, done.stderr

    def test_is_told_whose_job_it_is(self):
        owner = name_of_user(os.geteuid())
        with job("suspended") as process:
            self.assertEqual(run("apgas-ps", process.pid)[0], 0)
            for tool, *options in (["apgas-ps"], ["apgas-ps", "--json"], ["apgas-ps", "--edges"],
                                   ["apgas-ps", "--trace-start", "/tmp/run.json"],
                                   ["apgas-top", "--once"]):
                with self.subTest(tool=tool, options=options):
                    self.assertEqual(
                        self.run_as_another_user(tool, process.pid, *options),
                        (1, "", f"{tool}: job {process.pid} belongs to user {owner}; only that "
                                "user and root can look at it\n"))

    def test_does_not_see_the_job(self):
        with job("suspended") as process:
            report_when(rf"(?m)^{process.pid} ")
            for tool, code, out, err in (
                    (["apgas-ps"], 0, "no job of this user runs on this host\n", ""),
                    (["apgas-top", "--once"], 1, "",
                     "apgas-top: no job of this user runs on this host\n"),
                    (["apgas-ps", "places_observed"], 1, "",
                     "apgas-ps: there is no job, process or program 'places_observed' here; "
                     "apgas-ps lists the jobs\n")):
                with self.subTest(tool=tool):
                    self.assertEqual(self.run_as_another_user(*tool), (code, out, err))


if __name__ == "__main__":
    if PYTHON is None:
        print("skipped: only root can become another user, by setpriv", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
