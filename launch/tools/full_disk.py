# SPDX-License-Identifier: Apache-2.0
"""Detects full disks on this host: that of Open MPI's files, and that of the output of a job."""

import os
import socket
import stat
import tempfile

NEEDED = 1 << 20  # bytes; the places exchange a few hundred KiB through files at the start


def full_disk():
    """Returns a line if the disk of Open MPI's files is full, otherwise an empty string."""
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
    """Returns a line if standard output or standard error goes to a full disk, otherwise an empty
    string. Launchers drop output that they cannot write."""
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
