# SPDX-License-Identifier: Apache-2.0
"""Removes the folder of a job in TMPDIR, which Open MPI leaves on a host if its mpirun is killed.
launch/relaunch/src/leftover_files.cpp does the same for APGAS_PLACES=n."""

import os
import pathlib
import shutil
import socket
import tempfile


def remove_leftover_files(mpirun):
    """Requires: the process with the number `mpirun` has ended."""
    of_user = f"ompi.{socket.gethostname()}.{os.geteuid()}"
    shutil.rmtree(pathlib.Path(tempfile.gettempdir(), of_user, f"pid.{mpirun}"), ignore_errors=True)
