#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose process may use only one processor: one_processor.py <command>..."""

import os
import sys

os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
os.execv(sys.argv[1], sys.argv[1:])
