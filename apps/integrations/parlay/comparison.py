# SPDX-License-Identifier: Apache-2.0
"""What pbbs.py and examples.py share: both build a program of parlaylib twice, with parlaylib's own
scheduler and with this runtime, and compare the times of its runs."""
import math
import pathlib
import statistics
import subprocess

PLUGIN = pathlib.Path(__file__).resolve().parent / "include"
MADE = ("parlay", "apgas")  # what a program is made with: the ends of the names


def package(option):
    """What pkg-config says about this library."""
    return subprocess.run(["pkg-config", option, "apgas"], check=True, capture_output=True,
                          text=True).stdout.strip()


def compiler_options():
    """Make the compiler take this runtime in place of parlaylib's scheduler."""
    return f"-I {PLUGIN} -include apgas_parlay.hpp {package('--cflags')}"


def linker_options():
    return f"{package('--libs')} -Wl,--wrap=main -Wl,-rpath,{package('--variable=libdir')}"


def cells(least):
    """The cells of a table's row for the least times of the runs, a list for each of MADE: minimum
    and median of each, and the ratios of the two minimums and of the two medians."""
    low = [min(least[end], default=math.nan) for end in MADE]
    middle = [statistics.median(least[end] or [math.nan]) for end in MADE]
    return (f"{low[0]:.4g}, {middle[0]:.4g} | {low[1]:.4g}, {middle[1]:.4g} "
            f"| {low[0] / low[1]:.2f}, {middle[0] / middle[1]:.2f}")
