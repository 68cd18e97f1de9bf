#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plot of README.md: what tasks, barriers and calls cost here and in other libraries.

  peers.py          reads the report of docs/measurements/full_run, writes peers.json and, with
                    matplotlib (docs/site/requirements.txt), peers.svg and the description of the
                    plot in README.md and docs/index.md
  peers.py --check  checks that peers.json has the values of the report, and that the plot and its
                    descriptions have those of peers.json

Every bar is the median of one variant in that run, with the peers that a reader is likely to know,
the fastest ones among them.
"""

import json
import re
import sys
import textwrap

sys.dont_write_bytecode = True
import kept  # noqa: E402

REPORT = kept.HERE.parent / "measurements/full_run/report.json"
PAGES = (kept.HERE.parents[1] / "README.md", kept.HERE.parent / "index.md")

# Of each panel: title, what its bars are in a sentence, the unit in nanoseconds, the group, the
# benchmark, workers and places, and for each bar the label and the variant.
PANELS = [
    ("A spawned task of fib on one worker (ns)", "a spawned task of fib on one worker takes", 1,
     "peers", "fib, each spawn", 1, 1, [
         ("apgas", "apgas fork_join"), ("chili", "chili"), ("rayon", "rayon"),
         ("Java's fork-join pool", "Java, fork-join pool"), ("OpenMP", "OpenMP task"),
         ("Taskflow", "Taskflow"), ("oneTBB", "TBB task_group")]),
    ("A barrier of 512 tasks on two workers (ns for each task)",
     "a barrier of 512 tasks on two workers, for each of them,", 1,
     "peers", "barrier, N = 512", 2, 1, [
         ("apgas, clock", "apgas clock, lazy"), ("Go", "Go, goroutines"), ("tokio", "tokio"),
         ("Boost.Fiber", "Boost.Fiber work_stealing"), ("std::barrier", "std::barrier"),
         ("OpenMP", "OpenMP, passive")]),
    ("8 bytes to another process of the host and back (us)",
     "8 bytes to another process of the host and back", 1000,
     "place", "round trip, 8 B there and back", 1, 2, [
         ("apgas, at", "apgas at"), ("UCX", "UCX"), ("MPI", "MPI")]),
]
OURS, OTHERS = "#0072b2", "#bbbbbb"  # blue and grey differ for everybody, and on paper


def rounded(value):
    """With three digits, as `runs.py` has it."""
    return float(f"{value:.3g}")


def values():
    medians = {(each["group"], each["benchmark"], each["workers"], each["places"],
                each["variant"]): each["median"]
               for each in json.loads(REPORT.read_text(encoding="utf-8"))["records"]}
    return [{"title": title, "sentence": sentence,
             "unit": title[title.rindex("(") + 1:-1].split()[0],
             "bars": sorted(({"label": label, "value": rounded(medians[*key, variant] / scale)}
                             for label, variant in bars), key=lambda bar: bar["value"])}
            for title, sentence, scale, *key, bars in PANELS]


def description(panels):
    """The plot in words, as Markdown."""
    parts = []
    for panel in panels:
        *most, last = (f"{bar['value']:,g} {panel['unit']} with {bar['label']}"
                       if not bar["label"].startswith("apgas") else
                       f"{bar['value']:,g} {panel['unit']} here" for bar in panel["bars"])
        parts.append(f"{panel['sentence']} {', '.join(most)} and {last}")
    return "\n".join(textwrap.wrap(f"![Bars: {'; '.join(parts)}.]", 100))


def draw(panels):
    from matplotlib import pyplot

    rows = [len(panel["bars"]) + 1 for panel in panels]
    figure, axes = pyplot.subplots(len(panels), figsize=(7.2, 0.235 * sum(rows) + 1),
                                   height_ratios=rows, layout="constrained")
    for axis, panel in zip(axes, panels):
        for place, bar in enumerate(panel["bars"]):
            color = OURS if bar["label"].startswith("apgas") else OTHERS
            axis.barh(-place, bar["value"], color=color, edgecolor="#333333", linewidth=0.5)
            axis.annotate(f" {bar['value']:,g}", (bar["value"], -place), va="center")
        axis.set_yticks([-place for place in range(len(panel["bars"]))],
                        [bar["label"] for bar in panel["bars"]])
        axis.tick_params(axis="y", length=0)
        axis.set_title(panel["title"], loc="left", fontsize=10)
        axis.set_xlim(0, 1.15 * max(bar["value"] for bar in panel["bars"]))
        axis.spines[["top", "right"]].set_visible(False)
    return figure


def describe(check):
    """Writes the description before the plot's address in each page, or checks that it is there."""
    text = description(values())
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = re.sub(r"!\[Bars: [^]]*\](?=\([\w/]*peers\.svg\))", lambda _: text, before)
        if text not in after:
            sys.exit(f"{page.name} does not contain ![Bars: ...](peers.svg)")
        if check and after != before:
            sys.exit(f"{page.name} does not describe peers.svg as it is: run docs/plots/peers.py")
        if after != before:
            page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    kept.main("peers", values, draw, REPORT)
    describe(sys.argv[1:] == ["--check"])
