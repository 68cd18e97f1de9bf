# SPDX-License-Identifier: Apache-2.0
"""What the engines of docker/cluster share: problems with their remedy, and running commands."""

import subprocess


class Problem(Exception):
    """What went wrong and what to do; docker/cluster prints it."""


def run(*command, text=None, seconds=120):
    """Runs it to its end and returns what it printed. Raises Problem when it fails."""
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
