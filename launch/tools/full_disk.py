# SPDX-License-Identifier: Apache-2.0
"""Whether there is space where Open MPI needs it on this host, and where output goes."""

import os
import socket
import stat
import tempfile

NEEDED = 1 << 20  # bytes: what the places exchange at the start is a few hundred KiB


def full_disk():
    """A line that tells it; empty when there is space."""
    folder = os.environ.get("TMPDIR") or tempfile.gettempdir()
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        return f"TMPDIR={folder} on {socket.gethostname()}: {error.strerror}"
    left = disk.f_bavail * disk.f_frsize
    if left >= NEEDED:
        return ""
    return (f"the disk of {folder} on {socket.gethostname()} is full ({left >> 10} KiB left), and "
            "Open MPI needs files there: make space, or set TMPDIR to another folder")


def full_output():
    """A line that tells it, since launchers drop what they cannot write; empty when there is."""
    for number, name in ((1, "output"), (2, "error")):
        try:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                continue
            disk = os.fstatvfs(number)
        except OSError:
            continue
        if (disk.f_bavail if os.geteuid() else disk.f_bfree) == 0:
            return f"the disk that standard {name} goes to is full: some of it may be lost"
    return ""
