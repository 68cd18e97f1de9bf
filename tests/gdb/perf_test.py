# SPDX-License-Identifier: Apache-2.0
"""perf sees the frames of a task on a fiber: perf_test.py <program>, which is spinning.cpp.

Exit code 77: perf is not installed, or this system does not permit it. With
APGAS_TEST_REQUIRE_TOOLS it is an error that perf is not installed.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ENVIRONMENT = os.environ | {"APGAS_TRANSPORT": "local", "APGAS_WORKERS": "2", "APGAS_PLACES": "1"}
SKIPPED = 77


def perf(*arguments):
    try:
        done = subprocess.run(["perf", *arguments], capture_output=True, text=True, env=ENVIRONMENT,
                              errors="replace", timeout=300, check=False)
    except FileNotFoundError:
        print("perf is not installed (Debian: apt install linux-perf)")
        sys.exit(1 if os.environ.get("APGAS_TEST_REQUIRE_TOOLS") else SKIPPED)
    if done.returncode != 0:
        skip(f"perf {arguments[0]} is not permitted here: {done.stderr[-300:]}")
    return done.stdout


def skip(reason):
    print(reason)
    sys.exit(SKIPPED)


def stacks(text):
    """Returns the functions of each sample of `perf script`, from the innermost on."""
    for sample in text.split("\n\n"):
        functions = [line.split()[1].partition("+")[0] for line in sample.splitlines()
                     if line[:1] in "\t " and len(line.split()) > 1]
        if functions:
            yield functions


def check_without_perf(program):
    """Without perf this test is skipped, unless the tools must be there."""
    environment = {k: v for k, v in os.environ.items() if k != "APGAS_TEST_REQUIRE_TOOLS"}
    for required, code in (({}, SKIPPED), ({"APGAS_TEST_REQUIRE_TOOLS": "1"}, 1)):
        done = subprocess.run([sys.executable, __file__, program], check=False,
                              env=environment | required | {"PATH": "/nonexistent"}, timeout=60)
        if done.returncode != code:
            sys.exit(f"without perf and with {required}, this test ends with {done.returncode}")


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
    if os.environ["PATH"] != "/nonexistent":
        check_without_perf(sys.argv[1])
    main(sys.argv[1])
