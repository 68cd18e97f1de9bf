# SPDX-License-Identifier: Apache-2.0
"""What Open MPI leaves when its mpirun is killed: its folder for the job, and memory of the places
in /dev/shm, 4 MiB each. As launch/src/left_files.cpp."""

import os
import pathlib
import re
import shutil
import socket
import tempfile


def remove_left_files(mpirun):
    """On this host; mpirun has ended."""
    owner = f"{socket.gethostname()}.{os.geteuid()}"
    folder = pathlib.Path(tempfile.gettempdir(), f"ompi.{owner}", f"pid.{mpirun}")
    jobs = {int(found[1]) for file in folder.rglob("smdataseg-*")
            if (found := re.match(r"smdataseg-(\d+)-", file.name))}
    for job in jobs:
        for file in pathlib.Path("/dev/shm").glob(f"vader_segment.{owner}.{job:x}.*"):
            file.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
