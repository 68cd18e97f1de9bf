#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures 16, 20 and 23 of the paper on uClocks, from the table of IMSuite's kernels.

  uclocks.py          reads the table in docs/performance.md, writes uclocks.json and, with
                      matplotlib (docs/site/requirements.txt), uclocks.svg
  uclocks.py --check  checks that uclocks.json has the values of the table, and uclocks.svg those of
                      uclocks.json

Figure 16 is the speed-up of clocks over X10's, for kernels with many synchronisations. Figures 20
and 23 are the speed-up of `finish` over both, for kernels with many and with few.
"""

import sys

sys.dont_write_bytecode = True
import kept  # noqa: E402

TABLE = "The next table has IMSuite on graphs with 64 nodes"
MANY = ("KC", "HS", "LCR", "BY")
COLOURS = {1: "#0072b2", 2: "#e69f00"}  # by workers; readers with any colour vision see both
HATCHES = {1: "", 2: "//"}


def values():
    """Of each kernel: milliseconds with one and with two workers."""
    titles, *rows = kept.rows_after(kept.TABLES.read_text(), TABLE)
    columns = {"baseline": "baseline, ms", "finish": "finish, 1; 2 workers",
               "clocks": "clocks, 1; 2 workers"}
    return {cells[0]: {name: [float(each) for each in cells[titles.index(title)].split(";")]
                       for name, title in columns.items()}
            for cells in rows if cells[1]}


def bars(axis, title, kernels, found, quotients):
    """quotients: label: (numerator, denominator); a bar for each and for each number of workers."""
    width = 0.8 / len(quotients) / 2
    for number, (label, (over, under)) in enumerate(quotients.items()):
        for workers in (1, 2):
            at = (number * 2 + workers - 1.5) * width - 0.4 + width
            axis.bar([i + at for i in range(len(kernels))],
                     [found[name][over][workers - 1] / found[name][under][workers - 1] - 1
                      for name in kernels], width, bottom=1, color=COLOURS[workers],
                     alpha=0.55 if number else 1, hatch=HATCHES[workers], edgecolor="#333333",
                     linewidth=0.5, label=f"{label}, workers: {workers}")
    axis.set_yscale("log")
    axis.axhline(1, color="#333333", linewidth=0.8)
    axis.set_xticks(range(len(kernels)), kernels)
    axis.set_title(title, loc="left", fontsize=10)
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))
    axis.spines[["top", "right"]].set_visible(False)


def draw(found):
    from matplotlib import pyplot
    few = [name for name in found if name not in MANY]
    figure, (first, second, third) = pyplot.subplots(3, figsize=(7.2, 7.5), layout="constrained")
    bars(first, "Figure 16: X10's clocks / clocks, many synchronisations", MANY, found,
         {"X10's clocks / clocks": ("baseline", "clocks")})
    both = {"X10's clocks / finish": ("baseline", "finish"),
            "clocks / finish": ("clocks", "finish")}
    bars(second, "Figure 20: speed-up of finish, many synchronisations", MANY, found, both)
    bars(third, "Figure 23: speed-up of finish, few synchronisations", few, found, both)
    return figure


if __name__ == "__main__":
    kept.main("uclocks", values, draw)
