# SPDX-License-Identifier: Apache-2.0
"""The plots of a report, as SVG and PNG. Colours are those of Okabe and Ito, which readers with any
colour vision can tell apart; markers and hatches differ, too, so that plots work in print."""

import re

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000"]
MARKERS = "os^Dvx*P"
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


def save(figure, folder, name):
    name = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    for suffix in ("svg", "png"):
        figure.savefig(folder / f"{name}.{suffix}", dpi=150, bbox_inches="tight",
                       metadata={"Date": None} if suffix == "svg" else None)
    return name


def bars(axes, title, records):
    records = sorted(records, key=lambda each: each["median"])
    names = [f"{each['variant']} ({each['workers']} w)" for each in records]
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
    axes.set_xlabel(label)
    axes.set_title(title, fontsize=10)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))


def by_size(records):
    """Groups records whose benchmark has a size: name -> variant -> [(size, record)]."""
    found = {}
    for each in records:
        sized = size_of(each["benchmark"])
        if sized:
            variant = f"{each['variant']} ({each['workers']} w, {each['places']} p)"
            found.setdefault(sized[0], {}).setdefault(variant, []).append((sized[1], each))
    return {name: series for name, series in found.items()
            if any(len(points) > 1 for points in series.values())}


def draw(group, records, folder):
    """Draws the plots of a group and returns their names without a suffix."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    matplotlib.rcParams["svg.hashsalt"] = "apgas"  # the same bytes for the same data
    made = []

    def plot(title, height, paint, *arguments):
        figure, axes = pyplot.subplots(figsize=(7, height))
        paint(axes, title, *arguments)
        made.append(save(figure, folder, f"{group} {title}"))
        pyplot.close(figure)

    if group == "speed-up":
        for what, fixed in (("workers", "places"), ("places", "workers")):
            series = {}
            for each in records:
                if each[fixed] == 1:
                    name = each["benchmark"].removeprefix("speed-up of ")
                    series.setdefault(name, []).append((each[what], each))
            plot(f"speed-up by {what}", 4, lines, series, what,
                 lambda points, each: points[0][1]["median"] / each["median"])
        return made
    sized = by_size(records)
    for name, series in sized.items():
        def paint(axes, title, series):
            axes.set_yscale("log")
            lines(axes, title, series, "size", lambda _, each: each["median"])
            axes.set_ylabel("ns per operation (median)")
        plot(name.strip(", "), 4.5, paint, series)
    rest = {}
    for each in records:
        if not size_of(each["benchmark"]) or size_of(each["benchmark"])[0] not in sized:
            rest.setdefault(each["benchmark"], []).append(each)
    for name, found in rest.items():
        plot(name, 1 + 0.28 * len(found), bars, found)
    return made
