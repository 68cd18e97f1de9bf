# SPDX-License-Identifier: Apache-2.0
"""Loads the commands of gdb from the folder of this file: `source load.py` in gdb."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import apgas_gdb  # noqa: E402,F401
