# SPDX-License-Identifier: Apache-2.0
"""Makes the trace of a job of what its places have left on this host because the job died."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

TOOL = "apgas-trace-merge"


def changed_since(path, begun):
    try:
        return os.path.getmtime(path) >= begun
    except FileNotFoundError:  # a place that is still writing has renamed it
        return False


def merge_left_records(trace, begun):
    """`trace` is the value of APGAS_TRACE or None, and `begun` the time at which the job began. The
    lines of the places say which command does the same, so nothing is said where it is missing."""
    if not trace or not any(changed_since(record, begun)
                            for record in glob.glob(glob.escape(trace) + ".place*")):
        return
    beside = pathlib.Path(sys.argv[0]).resolve().parent / TOOL
    tool = str(beside) if beside.exists() else shutil.which(TOOL)
    if tool is None:
        return
    merged = subprocess.run([tool, trace], capture_output=True, text=True, check=False)
    lines = merged.stderr.splitlines()
    if merged.returncode == 0:
        lines.append(f"apgas-run: the trace {merged.stdout.strip()}, which the job has left")
    print("\n".join(lines), file=sys.stderr, flush=True)
