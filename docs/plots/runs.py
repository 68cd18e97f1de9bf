#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages and the plots of runs of ./launch/benchmark that are kept.

  runs.py NAME REPORT.JSON  keeps the report as docs/measurements/NAME/report.json, draws its plots
                            and writes the page NAME.md; needs matplotlib
                            (docs/site/requirements.txt)
  runs.py --check           checks that each page and its plots were made from its report
"""

import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/bench/report"))
import comparison  # noqa: E402
import groups  # noqa: E402
import kept  # noqa: E402
import plots  # noqa: E402

MEASUREMENTS = ROOT / "docs/measurements"
TITLE_OF = {"full_run": "A full run of the benchmarks", "xeon": "Two cores of a Xeon"}
TITLES = ("| benchmark | workers | places | `apgas` | fastest peer | ratio | least |\n"
          + "|---" * 7 + "|")
# Variants that are no peers, and ours that do less than the peers.
LEFT_OUT = ("serial", "serial, not inlined", "plain calls", "ring", "X10's clocks",
            "apgas async, no clock", "apgas future, ready before", "apgas co_await, ready before",
            "apgas fork_join, 10 levels")

INTRODUCTION = """\
# {title}

`./launch/benchmark {options}` on the machine below.
`docs/plots/runs.py` made this page of its report; [report.json]({name}/report.json) has every
sample, and `--compare` compares another run with it.

Times are of one operation: the least one of the rounds of the run, and their median. *Ratio* is the
median of `apgas` divided by that of the peer with the least median in the same run, and *least* the
ratio of the least times of the same two; above 1 the peer is faster. Behind a median, and as the
error of a bar in the plots, is the spread: half the range of the middle half of the rounds, or half
of their whole range if fewer than four are counted. The first of the rounds warms up and is not
counted.

The load average is that of the minute before the first benchmark began, so it tells what ran
before. What other programs used while the benchmarks ran is in the last line of the table, as an
average over the run.
"""
# The names in the table of what a report says of the machine, where its own would mislead.
MACHINE = {"date": "begin", "load": "load average of the minute before"}


def seconds(ns):
    """A time for readers, with three digits."""
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if ns < 999.5 * size or unit == "s":
            return f"{float(f'{ns / size:.3g}'):g} {unit}"
    raise AssertionError


def time_of(record):
    return (f"{seconds(record['least'])}, {seconds(record['median'])} "
            f"± {record['spread'] * 100:.0f} %")


def beside_peers(records):
    """The rows of the table: our variants beside the fastest peer of each benchmark."""
    cases = {}
    for each in records:
        if each["variant"] not in LEFT_OUT:
            case = each["benchmark"], each["workers"], each["places"]
            cases.setdefault(case, {True: [], False: []})[each["ours"]].append(each)
    for (benchmark, workers, places), found in cases.items():
        if not found[False]:
            continue
        peer = min(found[False], key=lambda each: each["median"])
        for ours in sorted(found[True], key=lambda each: each["median"]):
            name = ours["variant"].removeprefix("apgas").strip(" :")
            yield (f"| {benchmark} | {workers} | {places} | {name or 'apgas'}: "
                   f"{time_of(ours)} | {peer['variant']}: {time_of(peer)} | "
                   f"{ours['median'] / peer['median']:.2f} | "
                   f"{ours['least'] / peer['least']:.2f} |")


def options_of(report):
    measured = {each["group"] for each in report["records"]}
    options = ""
    if measured != {name for name, group in groups.GROUPS.items() if group.by_default}:
        options = f"--only {','.join(name for name in groups.GROUPS if name in measured)} "
    return options + f"--rounds {report['rounds']}" + "".join(
        f" --{name} {','.join(map(str, sorted({each[name] for each in report['records']})))}"
        for name in ("workers", "places"))


def page(run, report, drawn, mark):
    """The text of the page. drawn: the names of the plots of each group."""
    lines = [INTRODUCTION.format(title=TITLE_OF[run], name=run, options=options_of(report)),
             "| | |", "|---|---|"]
    machine = report["machine"] | {"load": f"{report['machine']['load']:.1f}"}
    others = f"{report['cores_used_by_others']:.2f}"
    lines += [f"| {MACHINE.get(name, name)} | {value} |" for name, value in
              (machine | report["versions"] | {
                  "cores used by other programs during the run": others}).items()]
    lines += ["", "Left out:", "", *(f"- {note}" for note in report["notes"] or ["nothing"]), ""]
    for name, group in groups.GROUPS.items():
        records = [each for each in report["records"] if each["group"] == name]
        if not records:
            continue
        lines += [f"## {group.title}", ""]
        rows = list(beside_peers(records))
        if rows:
            lines += [TITLES, *rows, ""]
        for plot in drawn[name]:
            lines += [f"![Times, ratios or speed-ups by variant: {plot.replace('_', ' ')}]"
                      f"({run}/{plot}.svg)", ""]
    return "\n".join([*lines, mark])


def draw(folder, report, mark):
    """Draws the plots into the folder, and returns their names by group."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "font.family": "sans-serif"}
    for old in folder.glob("*.svg"):
        old.unlink()
    drawn = {}
    for name in groups.GROUPS:
        if all(each["group"] != name for each in report["records"]):
            continue
        with tempfile.TemporaryDirectory() as made:
            drawn[name] = plots.draw(name, [each for each in report["records"]
                                            if each["group"] == name], pathlib.Path(made))
            for plot in drawn[name]:
                text = (pathlib.Path(made) / f"{plot}.svg").read_text(encoding="utf-8")
                (folder / f"{plot}.svg").write_text(re.sub(r" +$", "", text, flags=re.M) + mark,
                                                    encoding="utf-8")
    return drawn


def drawn_plots(run, text):
    """The names of the plots of a page, by group."""
    titles = {group.title: name for name, group in groups.GROUPS.items()}
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            name = titles.get(line[3:])
            found[name] = []
        elif plot := re.fullmatch(rf"!\[[^]]*\]\({run}/(\w+)\.svg\)", line):
            found[name].append(plot[1])
    return found


def mark_of(source):
    return f"<!-- {kept.mark('report', source.read_text(encoding='utf-8'))} -->\n"


def check(run):
    """Ends the program with a message if the page or a plot was not made from the report."""
    folder = MEASUREMENTS / run
    report, mark = comparison.load(folder / "report.json"), mark_of(folder / "report.json")
    text = folder.with_suffix(".md").read_text(encoding="utf-8")
    drawn = drawn_plots(run, text)
    if text != page(run, report, drawn, mark):
        sys.exit(f"{run}.md was not made from {run}/report.json: run docs/plots/runs.py")
    made = {path.stem for path in folder.glob("*.svg")
            if path.read_text(encoding="utf-8").endswith(mark)}
    if wrong := made ^ {plot for names in drawn.values() for plot in names}:
        sys.exit(f"{run}: plots of another report, or none: {', '.join(sorted(wrong))}; run "
                 "docs/plots/runs.py")


def main(arguments):
    if arguments == ["--check"]:
        for run in TITLE_OF:
            check(run)
        return
    if len(arguments) != 2 or arguments[0] not in TITLE_OF:
        sys.exit(f"{__doc__}\nNAME is one of {', '.join(TITLE_OF)}.")
    run, source = arguments[0], pathlib.Path(arguments[1])
    folder = MEASUREMENTS / run
    report, mark = comparison.load(source), mark_of(source)
    folder.mkdir(exist_ok=True)
    if source.resolve() != (folder / "report.json").resolve():
        shutil.copyfile(source, folder / "report.json")
    folder.with_suffix(".md").write_text(page(run, report, draw(folder, report, mark), mark),
                                         encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except comparison.Unusable as reason:
        sys.exit(f"runs.py: {reason}")
