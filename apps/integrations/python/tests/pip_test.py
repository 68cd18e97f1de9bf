#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the package by pip into an environment of its own, and runs its tests there:
pip_test.py <folder of pyproject.toml> <library of body.cpp>. Needs PyPI."""

import pathlib
import subprocess
import sys
import tempfile

source, body = map(pathlib.Path, sys.argv[1:])
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = pathlib.Path(folder) / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", source], check=True)
    site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                          check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([python, source / "tests" / "apgas_test.py", site, body], check=True)
