# SPDX-License-Identifier: Apache-2.0
"""The common part of the engines of docker/cluster: running commands and reporting problems."""

import subprocess


class Problem(Exception):
    """A problem and its remedy, which docker/cluster prints."""


def run(*command, text=None, seconds=120):
    """Runs a command and returns its output. Raises Problem if the command fails."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False,
                              timeout=seconds)
    except FileNotFoundError:
        raise Problem(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Problem(f"`{' '.join(command)}' did not end within {seconds} s") from None
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Problem(f"`{' '.join(command)}' failed: {reason[-1] if reason else done.returncode}")
    return done.stdout


def works(*command, seconds=30):
    try:
        run(*command, seconds=seconds)
        return True
    except Problem:
        return False
