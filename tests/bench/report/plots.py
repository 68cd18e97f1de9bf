# SPDX-License-Identifier: Apache-2.0
"""The plots of a report, as SVG and PNG. Colours are those of Okabe and Ito, which readers with any
colour vision can tell apart; markers and hatches differ, too, so that plots work in print."""

import math
import re
from collections import defaultdict

import papers

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000",
           "#999999"]
MARKERS = "os^Dvx*P"
HATCHES = ["", "//", "..", "xx", "\\\\", "++", "oo"]
SIZE = re.compile(r"(?:N = |n = |, )(\d+)(?: (B|KiB|MiB))?\b")
FACTOR = {None: 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}


def style(variant, number):
    ours = variant.startswith("apgas")
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
            "linestyle": "-" if ours else "--", "linewidth": 1.8 if ours else 1.2}


def size_of(benchmark):
    """(name without the size, size) of a benchmark such as `barrier, N = 64`, or None."""
    found = SIZE.search(benchmark)
    if not found:
        return None
    size = int(found[1]) * FACTOR[found[2]]
    return benchmark[:found.start()] + benchmark[found.end():], size


def label_of(record):
    places = f", {record['places']} p" if record["places"] > 1 else ""
    return f"{record['variant']} ({record['workers']} w{places})"


def save(figure, folder, name):
    name = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    for suffix in ("svg", "png"):
        figure.savefig(folder / f"{name}.{suffix}", dpi=150, bbox_inches="tight",
                       metadata={"Date": None} if suffix == "svg" else None)
    return name


def bars(axes, title, records):
    records = sorted(records, key=lambda each: each["median"])
    names = [label_of(each) for each in records]
    colours = [COLOURS[0] if each["ours"] else COLOURS[1] for each in records]
    spread = [each["median"] * each["spread"] for each in records]
    drawn = axes.barh(names, [each["median"] for each in records], xerr=spread, color=colours,
                      edgecolor="black", linewidth=0.5)
    for bar, each in zip(drawn, records):
        bar.set_hatch("" if each["ours"] else "//")
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("ns per operation (median; logarithmic)")
    axes.set_title(title, fontsize=10)


def lines(axes, title, series, label, value):
    """series: maps a variant to a list of (x, record)."""
    for number, (variant, points) in enumerate(sorted(series.items())):
        points.sort(key=lambda point: point[0])
        axes.plot([x for x, _ in points], [value(points, each) for _, each in points],
                  label=variant, **style(variant, number))
    axes.set_xscale("log", base=2)
    if label != "bytes":
        axes.set_xticks(sorted({x for points in series.values() for x, _ in points}))
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(label)
    axes.set_title(title, fontsize=10)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))


def grouped_bars(axes, title, series, label, base):
    """series: maps a name to its values by group; bars begin at the base."""
    groups = list(dict.fromkeys(group for values in series.values() for group in values))
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        axes.bar([groups.index(group) + (number + 0.5) * width - 0.4 for group in values],
                 [value - base for value in values.values()], width, bottom=base, label=name,
                 color=COLOURS[number % len(COLOURS)], edgecolor="black", linewidth=0.5,
                 hatch=HATCHES[(number + number // len(COLOURS)) % len(HATCHES)])
    axes.set_xticks(range(len(groups)), groups)
    axes.axhline(base, color="black", linewidth=0.8)
    if base == 1:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel(label)
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))


def by_size(records):
    """Groups records whose benchmark has a size: name -> label -> [(size, record)]."""
    found = defaultdict(lambda: defaultdict(list))
    for each in records:
        sized = size_of(each["benchmark"])
        if sized:
            found[sized[0]][label_of(each)].append((sized[1], each))
    return {name: series for name, series in found.items()
            if any(len(points) > 1 for points in series.values())}


def by_places(records):
    """Groups records that were measured at several numbers of places, as by_size does."""
    found = defaultdict(lambda: defaultdict(list))
    for each in records:
        found[each["benchmark"]][each["variant"]].append((each["places"], each))
    return {name: series for name, series in found.items()
            if any(len({places for places, _ in points}) > 1 for points in series.values())}


def in_bytes(records, name):
    """Whether the sizes of a benchmark are bytes, so that it has a rate."""
    return any(re.search(r"\d+ (B|KiB|MiB)\b", each["benchmark"]) for each in records
               if (size_of(each["benchmark"]) or [None])[0] == name)


def median_of(_, record):
    return record["median"]


class Pages:
    """Draws the plots of a group, and keeps their names without a suffix."""

    def __init__(self, group, folder):
        self.group, self.folder, self.names = group, folder, []

    def plot(self, title, height, paint, *arguments, label=None, scale="linear"):
        """label, scale: those of the y axis."""
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(figsize=(7, height))
        axes.set_yscale(scale)
        if label:
            axes.set_ylabel(label)
        paint(axes, title, *arguments)
        if scale == "log":  # whole powers of ten, since all others have labels that none can read
            low, high = (math.floor(math.log10(limit)) for limit in axes.dataLim.intervaly)
            axes.set_ylim(10.0 ** low, 10.0 ** (high + 1))
        self.names.append(save(figure, self.folder, f"{self.group} {title}"))
        pyplot.close(figure)

    def speed_ups(self, records):
        for what, fixed in (("workers", "places"), ("places", "workers")):
            series = defaultdict(list)
            for each in records:
                if each[fixed] == 1:
                    name = each["benchmark"].removeprefix("speed-up of ")
                    series[name].append((each[what], each))
            self.plot(f"speed-up by {what}", 4, lines, series, what,
                      lambda points, each: points[0][1]["median"] / each["median"],
                      label=f"speed-up over the least number of {what}")

    def sizes(self, records):
        """Plots by size. Peers with one number of workers share a plot, and so do records of one
        number of places where all of them would be more lines than colours. Returns the names."""
        what = "workers" if self.group == "peers" else "places"
        counts = {each[what] for each in records}
        crowded = {name for name, series in by_size(records).items()
                   if self.group == "peers" or len(counts) > 1 and len(series) > len(COLOURS)}
        for count in (None, *sorted(counts)):
            chosen = [each for each in records if count in (None, each[what])]
            for name, series in by_size(chosen).items():
                if (name in crowded) != (count is not None):
                    continue
                title = name.strip(", ") + (f", {what}: {count}" if count else "")
                unit = "bytes" if in_bytes(chosen, name) else "tasks"
                self.plot(title, 4.5, lines, series, unit, median_of,
                          label="ns per operation (median)", scale="log")
                if unit == "bytes":  # a thousand bytes in a microsecond are a gigabyte in a second
                    rates = {label: [(x, {"median": x / each["median"]}) for x, each in points]
                             for label, points in series.items()}
                    self.plot(f"{title}, rate", 4.5, lines, rates, unit, median_of,
                              label="size / time, gigabytes per second", scale="log")
        return by_size(records).keys()

    def rest(self, records, drawn):
        """Plots by places, and bars for the benchmarks that have no other plot. `drawn` are those
        that have one."""
        series = by_places(records)
        for name, found in series.items():
            self.plot(f"{name}, by places", 4, lines, found, "places", median_of,
                      label="ns per operation (median)", scale="log")
        for name in dict.fromkeys(each["benchmark"] for each in records):
            found = [each for each in records if each["benchmark"] == name]
            if name not in series and (size_of(name) or [None])[0] not in drawn:
                self.plot(name, 1 + 0.28 * len(found), bars, found)


def draw(group, records, folder):
    """Draws the plots of a group and returns their names without a suffix."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "apgas"  # the same bytes for the same data
    pages = Pages(group, folder)
    if group == "speed-up":
        pages.speed_ups(records)
        return pages.names
    sized = pages.sizes(records)
    for title, label, base, series in papers.figures(records) if group == "papers" else ():
        if series:
            pages.plot(title, 4, grouped_bars, series, label, base)
    in_figures = tuple(f"{title}: " for title in papers.TITLES)
    pages.rest([each for each in records if not each["benchmark"].startswith(in_figures)], sized)
    return pages.names
