# SPDX-License-Identifier: Apache-2.0
"""Runs a program once for each seed of a range, until a run fails (apgas-run --seeds)."""

import ctypes
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

LARGEST_SEED = 2**63 - 1
TIMED_OUT = 124
SECONDS_BETWEEN_LINES = 10


class BadSeeds(Exception):
    """Argument: what is wrong with the range of seeds."""


def parse_seeds(text):
    """Returns the range that `1..1000`, or a single number, means."""
    found = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if not found or last < first or last > LARGEST_SEED:
        raise BadSeeds(f"--seeds {text}: expected two whole numbers such as 1..1000, the smaller "
                       "one first, or one number")
    return range(first, last + 1)


class Stopped(Exception):
    """A signal arrived. Argument: its number."""


def on_signal(number, _frame):
    raise Stopped(number)


def run_once(command, environment, timeout, output):
    """Returns the exit code of a run, as a shell does, and writes what it prints to `output`."""
    libc = ctypes.CDLL(None)
    job = subprocess.Popen(command, env=environment, stdout=output, stderr=output,
                           preexec_fn=lambda: libc.prctl(1, int(signal.SIGKILL)))
    try:
        code = job.wait(timeout)
    except subprocess.TimeoutExpired:
        code = TIMED_OUT
    finally:
        if job.poll() is None:
            job.kill()
            job.wait()
    return code if code >= 0 else 128 - code


def command_line(command, seed, environment):
    names = ("APGAS_PLACES", "APGAS_WORKERS", "APGAS_TRANSPORT")
    settings = [f"APGAS_SEED={seed}"] + [f"{n}={environment[n]}" for n in names if n in environment]
    return shlex.join(settings + command)


def reason(code, timeout):
    if code == TIMED_OUT and timeout:
        return f"did not end within {timeout} s, or ended with the code {TIMED_OUT}"
    if code > 128:
        return f"was ended by signal {code - 128}"
    return f"ended with the code {code}"


def run_seeds(command, environment, seeds, timeout):
    """Returns the exit code of the first run that fails, else 0.

    A run that succeeds prints nothing. The output of the one that fails follows what is found.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    said = time.monotonic()
    done = 0
    try:
        for seed in seeds:
            with tempfile.TemporaryFile() as output:
                code = run_once(command, environment | {"APGAS_SEED": str(seed)}, timeout, output)
                if code != 0:
                    output.seek(0)
                    sys.stdout.flush()
                    os.write(sys.stderr.fileno(), output.read())
                    print(f"apgas-run: the run with seed {seed} {reason(code, timeout)}; {done} "
                          f"before it succeeded. Repeat it with:\n"
                          f"  {command_line(command, seed, environment)}", file=sys.stderr)
                    return code
            done += 1
            if time.monotonic() - said > SECONDS_BETWEEN_LINES:
                said = time.monotonic()
                print(f"apgas-run: {done} of {len(seeds)} seeds succeeded so far", file=sys.stderr)
    except Stopped as stopped:
        print(f"apgas-run: stopped after {done} of {len(seeds)} seeds, which all succeeded",
              file=sys.stderr)
        return 128 + stopped.args[0]
    print(f"apgas-run: all {done} runs succeeded, with the seeds {seeds[0]} to {seeds[-1]}",
          file=sys.stderr)
    return 0
