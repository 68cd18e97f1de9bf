#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/scaling.png from the lines that scaling_model has printed.

Arguments: the folder with before-*.json and after-*.json, the picture. Needs matplotlib.
"""

import json
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main():
    folder, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
    figure, (speed, steals) = plt.subplots(1, 2, figsize=(12, 5))
    colours = {}
    for file in sorted([*folder.glob("before-*.json"), *folder.glob("after-*.json")]):
        runs = [json.loads(line) for line in file.read_text().splitlines()]
        if len(runs) < 5 or runs[0]["workers"] != 1:
            continue
        name = f"{runs[0]['program']} {runs[0]['size']}"
        colour = colours.setdefault(name, f"C{len(colours)}")
        after = file.name.startswith("after")
        style = "-" if after else ":"
        workers = [run["workers"] for run in runs]
        times = [run.get("us_a_phase", run["ms"]) for run in runs]
        speed.plot(workers, [times[0] / time for time in times], style, color=colour,
                   label=name if after else None)
        steals.plot(workers[1:], [max(run["steals"], 1) for run in runs[1:]], style, color=colour)
    speed.plot([1, 1024], [1, 1024], color="grey", linewidth=0.5)
    speed.set_title("speed-up over one worker (dotted: the policy before)")
    steals.set_title("steals")
    for axes in (speed, steals):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlabel("workers")
    speed.legend(loc="lower left")
    figure.tight_layout()
    figure.savefig(picture, dpi=88)


if __name__ == "__main__":
    main()
