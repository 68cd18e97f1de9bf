# SPDX-License-Identifier: Apache-2.0
"""Whether a folder that Open MPI cannot do without has no space left on this host."""

import os
import socket
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
