# SPDX-License-Identifier: Apache-2.0
"""Runs of the program places_hangs, which the first argument of a test names."""

import os
import pathlib
import re
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop(1)
DEADLOCK = 124
SETTINGS = {"APGAS_WORKERS": "2", "APGAS_IDLE": "0"}


def cases(places):
    """The names of the cases that are for "one" place or for "several"."""
    text = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout
    return sorted(name for name, of in map(str.split, text.splitlines()) if of == places)


def marked_lines(case):
    """The marked lines of the function `case`: word -> expression for file:line."""
    for file in HERE.glob("*.cpp"):
        lines = file.read_text().splitlines()
        begin = next((i for i, l in enumerate(lines) if l.startswith(f"void {case}()")), None)
        if begin is None:
            continue
        marks = {}
        for i, line in enumerate(lines[begin:], begin + 1):
            if i > begin + 1 and line == "}":
                break
            if found := re.search(r"// marks (\w+)", line):
                marks[found[1]] = rf"\S*{re.escape(file.name)}:{i}\b"
        return marks
    raise LookupError(case)


def environment(**variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    return kept | SETTINGS | variables


def expand(text, marks):
    """The expression in which each $word stands for a marked line."""
    return re.sub(r"\$(\w+)", lambda m: marks[m[1]], text)


def default_quit():
    """For the child: a shell that starts this test in the background makes it ignore SIGQUIT."""
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
