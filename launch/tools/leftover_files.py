# SPDX-License-Identifier: Apache-2.0
"""What Open MPI leaves on this host when its mpirun is killed: the folder of the job in TMPDIR. As
launch/src/leftover_files.cpp."""

import os
import pathlib
import shutil
import socket
import tempfile


def remove_leftover_files(mpirun):
    """Requires: that mpirun has ended."""
    of_user = f"ompi.{socket.gethostname()}.{os.geteuid()}"
    shutil.rmtree(pathlib.Path(tempfile.gettempdir(), of_user, f"pid.{mpirun}"), ignore_errors=True)
