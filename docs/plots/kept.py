# SPDX-License-Identifier: Apache-2.0
"""Plots of figures that are kept elsewhere: <name>.json has the figures, <name>.svg the plot."""

import hashlib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLES = HERE.parent / "performance.md"


def mark(name, data):
    return f"values of {name}.json, sha256 {hashlib.sha256(data.encode()).hexdigest()}"


def rows_after(text, after):
    """The cells of the first table after a text: a list for each row, the titles first."""
    rows = []
    for line in text[text.index(after):].splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows[:1] + rows[2:]  # without the line below the titles


def main(name, values, draw, source=TABLES):
    """values() reads the figures from the source, and draw(values) returns the figure. With --check
    only compares the files with the source."""
    found = values()
    data = json.dumps(found, indent=1) + "\n"
    file, plot = HERE / f"{name}.json", HERE / f"{name}.svg"
    if sys.argv[1:] == ["--check"]:
        if file.read_text() != data:
            sys.exit(f"{name}.json has not the values of {source.name}: run docs/plots/{name}.py")
        if mark(name, data) not in plot.read_text():
            sys.exit(f"{name}.svg was not made from {name}.json: run docs/plots/{name}.py")
        return
    file.write_text(data)
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "path", "svg.hashsalt": "apgas", "font.size": 9}
    metadata = {"Date": None, "Creator": None, "Description": mark(name, data)}
    draw(found).savefig(plot, metadata=metadata)
    plot.write_text(re.sub(r" +$", "", plot.read_text(), flags=re.M))
