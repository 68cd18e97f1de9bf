# SPDX-License-Identifier: Apache-2.0
"""Which plots a report has, as SVG and PNG. painting.py paints them."""

import math
import re
from collections import defaultdict

import painting
import papers
import pbbs
import sizes
import threads

SIZE = re.compile(r"(?:N = |n = |, )(\d+)(?: (B|KiB|MiB))?\b")
FACTOR = {None: 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
FIGURES = {"papers": papers.figures, "programs": threads.figures, "pbbs": pbbs.figures,
           "sizes": sizes.figures}
# Titles of benchmarks without other plots.
IN_FIGURES = (*papers.TITLES, threads.WITHIN, pbbs.TITLE, sizes.TITLE)


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

    def plot(self, title, height, paint, *arguments, label=None, scale="linear",
             from_zero=False):
        """label, scale, from_zero: those of the y axis."""
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(figsize=(7, height))
        axes.set_yscale(scale)
        if label:
            axes.set_ylabel(label)
        paint(axes, title, *arguments)
        if scale == "log":  # whole powers of ten, since all others have labels that none can read
            low, high = (math.floor(math.log10(limit)) for limit in axes.dataLim.intervaly)
            axes.set_ylim(10.0 ** low, 10.0 ** (high + 1))
        if from_zero:
            axes.set_ylim(bottom=0)
        self.names.append(save(figure, self.folder, f"{self.group} {title}"))
        pyplot.close(figure)

    def speed_ups(self, records):
        for what, fixed in (("workers", "places"), ("places", "workers")):
            series = defaultdict(list)
            for each in records:
                if each[fixed] == 1:
                    name = each["benchmark"].removeprefix("speed-up of ")
                    series[name].append((each[what], each))
            self.plot(f"speed-up by {what}", 4.5, painting.speed_ups, series, what,
                      label=f"speed-up over the least number of {what}")

    def sizes(self, records):
        """Plots by size. Peers with one number of workers share a plot, and so do records of one
        number of places where all of them would be more lines than colours. Returns the names."""
        what = "workers" if self.group == "peers" else "places"
        counts = {each[what] for each in records}
        crowded = {name for name, series in by_size(records).items()
                   if self.group == "peers"
                   or len(counts) > 1 and len(series) > len(painting.COLOURS)}
        for count in (None, *sorted(counts)):
            chosen = [each for each in records if count in (None, each[what])]
            for name, series in by_size(chosen).items():
                if (name in crowded) != (count is not None):
                    continue
                title = name.strip(", ") + (f", {what}: {count}" if count else "")
                unit = "bytes" if in_bytes(chosen, name) else "tasks"
                self.plot(title, 4.5, painting.lines, series, unit, median_of,
                          label="ns per operation (median)", scale="log")
                if unit == "bytes":  # a thousand bytes in a microsecond are a gigabyte in a second
                    rates = {label: [(x, {"median": x / each["median"]}) for x, each in points]
                             for label, points in series.items()}
                    self.plot(f"{title}, rate", 4.5, painting.lines, rates, unit, median_of,
                              label="size / time, gigabytes per second", scale="log")
        return by_size(records).keys()

    def rest(self, records, drawn):
        """Plots by places, and bars for the benchmarks that have no other plot. `drawn` are those
        that have one."""
        series = by_places(records)
        for name, found in series.items():
            medians = [each["median"] for points in found.values() for _, each in points]
            unit, size = painting.unit_for(max(medians))
            wide = painting.is_wide(medians)
            self.plot(f"{name}, by places", 4, painting.lines, found, "places",
                      lambda _, each, size=size: each["median"] / size,
                      label=f"{unit} per operation (median)", scale="log" if wide else "linear",
                      from_zero=not wide)
        for name in dict.fromkeys(each["benchmark"] for each in records):
            found = [each for each in records if each["benchmark"] == name]
            if name not in series and (size_of(name) or [None])[0] not in drawn:
                self.plot(name, 1 + 0.28 * len(found), painting.bars, found, label_of)


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
    for title, label, base, series in FIGURES[group](records) if group in FIGURES else ():
        if series:
            pages.plot(title, 4, painting.grouped_bars, series, label, base)
    in_figures = tuple(f"{title}: " for title in IN_FIGURES)
    pages.rest([each for each in records if not each["benchmark"].startswith(in_figures)], sized)
    return pages.names
