# SPDX-License-Identifier: Apache-2.0
"""How a plot of a report is painted on its axes. Colours are those of Okabe and Ito, which readers
with any colour vision can tell apart; markers and hatches differ, too, so that plots work in print.
"""

import math

COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000",
           "#999999"]
MARKERS = "os^Dvx*P<>d"  # not as many as colours, so that the ninth line differs from the first
HATCHES = ["", "//", "..", "xx", "\\\\", "++", "oo"]
UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1))
WIDE = 20  # the quotient of the values of a plot from which its axis is logarithmic
LEGEND_POINTS = 8


def unit_for(largest):
    """The name of a unit of time, and its nanoseconds."""
    return next(((name, size) for name, size in UNITS if largest >= size), UNITS[-1])


def is_wide(values):
    return max(values) > WIDE * min(values)


def style(number, solid):
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
            "linestyle": "-" if solid else "--", "linewidth": 1.8 if solid else 1.2}


def ratio_axis(axes):
    """Makes the y axis logarithmic, with ticks for ratios."""
    axes.set_yscale("log", base=2)
    low, high = axes.get_ylim()
    few = high <= 8 * low
    ticks = [2.0 ** n * factor for n in range(-12, 16)
             for factor in ((1, 1.25, 1.5, 1.75) if few and n >= 0 else (1, 1.5) if few else (1,))]
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.yaxis.set_major_formatter("{x:g}")


def head(axes, title):
    """The title, and below it the legend, which takes no width from the plot."""
    names = axes.get_legend_handles_labels()[1]
    columns = max(1, min(4, len(names), 90 // (max(map(len, names), default=0) + 8)))
    rows = -(-len(names) // columns)
    axes.legend(fontsize=LEGEND_POINTS, loc="lower center", bbox_to_anchor=(0.5, 1),
                ncol=columns, frameon=False)
    axes.set_title(title, fontsize=10, pad=10 + 1.7 * LEGEND_POINTS * rows)


def bars(axes, title, records, label_of):
    """Bars from zero, or along a logarithmic axis from a power of ten."""
    records = sorted(records, key=lambda each: each["median"])
    wide = is_wide([each["median"] for each in records])
    unit, size = unit_for(records[0 if wide else -1]["median"])
    medians = [each["median"] / size for each in records]
    colours = [COLOURS[0] if each["ours"] else COLOURS[1] for each in records]
    spread = [median * each["spread"] for median, each in zip(medians, records)]
    drawn = axes.barh([label_of(each) for each in records], medians, xerr=spread, color=colours,
                      edgecolor="black", linewidth=0.5)
    for bar, each in zip(drawn, records):
        bar.set_hatch("" if each["ours"] else "//")
    axes.invert_yaxis()
    if wide:
        axes.set_xscale("log")
        axes.set_xlim(left=10.0 ** math.floor(math.log10(medians[0]) - 0.01))
    axes.set_xlabel(f"{unit} per operation (median{'; logarithmic' if wide else ''})")
    axes.set_title(title, fontsize=10)


def lines(axes, title, series, label, value, solid=lambda name: name.startswith("apgas")):
    """series: maps a variant to a list of (x, record)."""
    for number, (variant, points) in enumerate(sorted(series.items())):
        points.sort(key=lambda point: point[0])
        axes.plot([x for x, _ in points], [value(points, each) for _, each in points],
                  label=variant, **style(number, solid(variant)))
    axes.set_xscale("log", base=2)
    if label != "bytes":
        axes.set_xticks(sorted({x for points in series.values() for x, _ in points}))
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(label)
    axes.grid(True, alpha=0.3)
    head(axes, title)


def speed_ups(axes, title, series, what):
    """Speed-ups over the least number of workers or places, beside the ideal ones."""
    counts = sorted({x for points in series.values() for x, _ in points})
    ideal = [count / counts[0] for count in counts]
    axes.plot(counts, ideal, color="black", linestyle=":", linewidth=1.2, label="ideal")
    lines(axes, title, series, what,
          lambda points, each: points[0][1]["median"] / each["median"], lambda _: True)
    ratio_axis(axes)


def grouped_bars(axes, title, series, label, base):
    """series: maps a name to its values by group; bars begin at the base."""
    groups = list(dict.fromkeys(group for values in series.values() for group in values))
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        axes.bar([groups.index(group) + (number + 0.5) * width - 0.4 for group in values],
                 [value - base for value in values.values()], width, bottom=base, label=name,
                 color=COLOURS[number % len(COLOURS)], edgecolor="black", linewidth=0.5,
                 hatch=HATCHES[(number + number // len(COLOURS)) % len(HATCHES)])
    crowded = sum(len(group) + 2 for group in groups) > 80
    axes.set_xticks(range(len(groups)), groups, rotation=45 if crowded else 0,
                    ha="right" if crowded else "center", rotation_mode="anchor")
    axes.axhline(base, color="black", linewidth=0.8)
    if base == 1:
        ratio_axis(axes)
    axes.set_ylabel(label)
    head(axes, title)
