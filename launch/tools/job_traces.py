# SPDX-License-Identifier: Apache-2.0
"""Starts and stops the trace of a running job, for apgas-ps and apgas-top.

Place 0 answers at once, with the state of the trace. All places are asked by messages, which their
workers run as tasks, so that it may take until these have a moment.
"""

import os
import time

from control_socket import Unanswered, ask

PATIENCE = 20.0  # seconds, for the workers of all places
PAUSE = 0.05


def place_zero(job):
    """Returns the process that has the trace. Raises Unanswered."""
    first = job.members[0]
    if first.place != 0:
        raise Unanswered(f"place 0 of job {job.name}, which has the trace, runs on another host: "
                         "call this command there")
    return first


def state_of(job):
    """Returns {"state": "off", "starting", "recording", "stopping" or "unwritten", "path": of this
    trace or the last one, "problems": lines about it}. Raises Unanswered."""
    return ask(place_zero(job), "trace")


def start(job, path):
    """Asks for a trace that is written to a file. Returns the state. Raises Unanswered."""
    return ask(place_zero(job), f"trace start {os.path.abspath(path)}")


def stop(job):
    """Asks for the end of the trace. Returns the state. Raises Unanswered."""
    return ask(place_zero(job), "trace stop")


def wait_while(job, state, seconds=PATIENCE):
    """Returns the state that follows `state`. Raises Unanswered."""
    end = time.monotonic() + seconds
    while (now := state_of(job))["state"] == state:
        if time.monotonic() > end:
            raise Unanswered(f"not all places of job {job.name} have answered for {seconds:g} s: "
                             f"their workers are busy; the trace is still {state}")
        time.sleep(PAUSE)
    return now


def line_of(state):
    """What apgas-top shows; empty if there is no trace."""
    path, problem = state["path"], "; ".join(state["problems"])
    texts = {"off": f"{path}: {problem}" if problem else "",
             "starting": f"starts to record {path}",
             "recording": f"records {path} (x stops)",
             "stopping": f"writes {path}",
             "unwritten": f"{path} is not written: {problem} (x tries again)"}
    return texts.get(state["state"], "")
