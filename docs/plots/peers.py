#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plot of README.md: what tasks, barriers and calls cost here and in other libraries.

  peers.py          reads the tables of docs/performance.md, writes peers.json and, with matplotlib
                    (docs/site/requirements.txt), peers.svg
  peers.py --check  checks that peers.json has the values of the tables, and peers.svg those of
                    peers.json

Nothing is computed here but the choice of cells: every bar is one cell of a table.
"""

import re
import sys

sys.dont_write_bytecode = True
import kept  # noqa: E402

# Of each panel: title, section or sentence after which its table stands, and its groups of bars. A
# group has a title, and for each bar a label, the beginning of a row, and the title of a column.
AMD = "## Measured"
INTEL = "### In lock-step"
MPI = "The next table is for two places over MPI"
PANELS = [
    ("A task (ns)", AMD, [
        ("fib, each spawn", [
            ("apgas", "fib(35), each spawn: `fork_join`", "apgas"),
            ("OpenMP", "fib(35), each spawn: `fork_join`", "OpenMP"),
            ("oneTBB", "fib(35), each spawn: `fork_join`", "oneTBB")]),
        ("flat loop, each task", [
            ("apgas", "flat loop of 10^6 tasks", "apgas"),
            ("OpenMP", "flat loop of 10^6 tasks", "OpenMP"),
            ("oneTBB", "flat loop of 10^6 tasks", "oneTBB")]),
        ("tree search, each node", [
            ("apgas", "uts T1, each tree node", "apgas"),
            ("OpenMP", "uts T1, each tree node", "OpenMP"),
            ("oneTBB", "uts T1, each tree node", "oneTBB")])]),
    ("A barrier of 512 tasks on two cores (ns for each task and phase)", INTEL, [
        ("", [
            ("apgas, clock", "clock, lazy, 2", "N = 512"),
            ("Boost.Fiber, one thread", "Boost.Fiber `round_robin`, 1", "N = 512"),
            ("std::barrier", "`std::barrier`, 2", "N = 512"),
            ("Boost.Fiber", "Boost.Fiber `work_stealing`, 2", "N = 512"),
            ("OpenMP", "OpenMP, passive, 2", "N = 512"),
            ("Java Phaser", "Java Phaser, platform threads, 2", "N = 512")])]),
    ("8 bytes to another process and back, over MPI (us)", MPI, [
        ("", [
            ("MPI", "`at`, 8 B there and back", "plain MPI"),
            ("apgas, at", "`at`, 8 B there and back", "apgas")])]),
]
OURS, OTHERS = "#0072b2", "#bbbbbb"  # blue and grey differ for everybody, and on paper


def cell(text, after, row, column):
    """The number in a cell of the first table after a text."""
    titles, *rows = kept.rows_after(text, after)
    for cells in rows:
        if cells[0].startswith(row):
            value = cells[titles.index(column)]
            return float(re.match(r"([\d.,]+)", value)[1].replace(",", ""))
    raise LookupError(f"{kept.TABLES.name}: the table after {after!r} has no row {row!r}")


def values():
    text = kept.TABLES.read_text()
    return [{"title": title, "table": after, "groups": [
        {"title": name, "bars": [
            {"label": label, "row": row, "column": column, "value": cell(text, after, row, column)}
            for label, row, column in bars]}
        for name, bars in groups]} for title, after, groups in PANELS]


def draw(panels):
    from matplotlib import pyplot

    rows = [sum(len(group["bars"]) + 1 for group in panel["groups"]) for panel in panels]
    figure, axes = pyplot.subplots(len(panels), figsize=(7.2, 0.235 * sum(rows) + 1),
                                   height_ratios=rows, layout="constrained")
    for axis, panel in zip(axes, panels):
        place, labels = 0, []
        for group in panel["groups"]:
            if group["title"]:
                labels.append((place, group["title"], "bold"))
                place -= 1
            for bar in group["bars"]:
                color = OURS if bar["label"].startswith("apgas") else OTHERS
                axis.barh(place, bar["value"], color=color, edgecolor="#333333", linewidth=0.5)
                axis.annotate(f" {bar['value']:,g}", (bar["value"], place), va="center")
                labels.append((place, bar["label"], "normal"))
                place -= 1
        axis.set_yticks([at for at, _, _ in labels], [label for _, label, _ in labels])
        for tick, (_, _, weight) in zip(axis.get_yticklabels(), labels):
            tick.set_fontweight(weight)
        axis.tick_params(axis="y", length=0)
        axis.set_title(panel["title"], loc="left", fontsize=10)
        axis.set_xlim(0, 1.15 * max(b["value"] for g in panel["groups"] for b in g["bars"]))
        axis.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    kept.main("peers", values, draw)
