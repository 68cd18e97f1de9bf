#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace of places whose steady clocks differ, as those of different hosts do: place 1 runs in a
time namespace. Arguments: the program traced.

Exit code: 77 without time namespaces, which need root.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "trace"))
from trace_events import Events  # noqa: E402

TRACED = sys.argv.pop(1)
SKIPPED = 77
LATER = 1000  # seconds that the clock of place 1 is ahead
ELSEWHERE = ["unshare", "--time", "--monotonic", str(LATER), "--"]
# mpirun starts this with the program as its argument.
START = f"""#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && exec {" ".join(ELSEWHERE)} "$@"
exec "$@"
"""


def has_time_namespaces():
    """Whether a program that is started like place 1 sees the other clock; older kernels change
    only that of its children."""
    clock = [sys.executable, "-c", "import time; print(time.monotonic())"]
    try:
        there = subprocess.run([*ELSEWHERE, *clock], capture_output=True, text=True, check=False)
        return there.returncode == 0 and float(there.stdout) - time.monotonic() > LATER / 2
    except FileNotFoundError:
        return False


class HostClocks(unittest.TestCase):
    def trace(self, *arguments):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        start, path = folder / "start", folder / "run.json"
        start.write_text(START)
        start.chmod(0o755)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
        environment.update(APGAS_TRACE=str(path), APGAS_WORKERS="1")
        done = subprocess.run(["mpirun", "-n", "2", "--oversubscribe", start, TRACED, *arguments],
                              env=environment, capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Events(path)

    def test_times_are_those_of_place_0(self):
        events = self.trace()
        own, other = events.metadata["clocks"]
        self.assertEqual((own["offset_ns"], own["error_ns"]), (0, 0))
        self.assertGreater(other["error_ns"], 0)
        self.assertLess(other["error_ns"], 1e9)
        self.assertLess(abs(other["offset_ns"] + LATER * 1e9), 1e9 + other["error_ns"])
        error_us = other["error_ns"] / 1e3
        times = [e["ts"] for e in events.all if "ts" in e]
        self.assertLess(max(times) - min(times), LATER * 1e6 / 2, "the offset is not in the times")
        between = [pair for name in ("async_at", "at", "reply") for pair in events.flows(name)
                   if pair[0]["pid"] != pair[1]["pid"]]
        self.assertGreaterEqual(len(between), 3)
        for begin, end in between:
            self.assertGreaterEqual(end["ts"] - begin["ts"], -error_us, (begin, end))


if __name__ == "__main__":
    if not has_time_namespaces():
        print("skipped: no time namespaces: `unshare --time` needs root and Linux 5.6",
              file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
