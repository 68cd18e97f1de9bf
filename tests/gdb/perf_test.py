# SPDX-License-Identifier: Apache-2.0
"""perf sees the frames of a task on a fiber: perf_test.py <program>, which is spinning.cpp.

Exit code 77: perf is not installed, or this system does not permit it.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ENVIRONMENT = os.environ | {"APGAS_TRANSPORT": "local", "APGAS_WORKERS": "2", "APGAS_PLACES": "1"}


def perf(*arguments):
    try:
        done = subprocess.run(["perf", *arguments], capture_output=True, text=True, env=ENVIRONMENT,
                              errors="replace", timeout=300, check=False)
    except FileNotFoundError:
        skip("perf is not installed")
    if done.returncode != 0:
        skip(f"perf {arguments[0]} is not permitted here: {done.stderr[-300:]}")
    return done.stdout


def skip(reason):
    print(reason)
    sys.exit(77)


def stacks(text):
    """Returns the functions of each sample of `perf script`, from the innermost on."""
    for sample in text.split("\n\n"):
        functions = [line.split()[1].partition("+")[0] for line in sample.splitlines()
                     if line[:1] in "\t " and len(line.split()) > 1]
        if functions:
            yield functions


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        data = str(pathlib.Path(folder, "perf.data"))
        perf("record", "-q", "-e", "task-clock", "-F", "500", "--call-graph", "dwarf,16384",
             "-o", data, program)
        found = list(stacks(perf("script", "-i", data, "-F", "ip,sym", "--no-inline")))
    working = [functions for functions in found if functions[0].startswith("work")]
    print(f"{len(found)} samples, {len(working)} of them in work()")
    if len(working) < 20:
        sys.exit("too few samples in work()")
    complete = [functions for functions in working
                if any(f.startswith("outer_work") for f in functions)
                and functions[-1].startswith("apgas_enter_fiber")]
    # perf may lose the memory of a sample. What it has must be right.
    if len(complete) < 0.9 * len(working):
        wrong = next(functions for functions in working if functions not in complete)
        sys.exit(f"only {len(complete)} of {len(working)} stacks lead from work() by outer_work() "
                 f"to the begin of the fiber; another one: {wrong}")


if __name__ == "__main__":
    main(sys.argv[1])
