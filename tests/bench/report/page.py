# SPDX-License-Identifier: Apache-2.0
"""The page of a report: index.html with the plots, all times, the machine and the commands."""

import html

STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; font-size: 0.9rem; }
td, th { padding: 0.15rem 0.6rem; text-align: left; border-bottom: 1px solid #8884; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.ours { font-weight: 600; }
img { max-width: 100%; background: white; }
div.wide { overflow-x: auto; }
"""


def rows(values):
    return "".join(f"<tr><th>{html.escape(str(name))}<td>{html.escape(str(value))}"
                   for name, value in values.items())


def table(records):
    lines = ["<div class=wide><table><tr><th>benchmark<th>variant<th>workers<th>places"
             "<th>median ns<th>least ns<th>spread"]
    for each in records:
        kind = " class=ours" if each["ours"] else ""
        numbers = [each["workers"], each["places"], f"{each['median']:.2f}",
                   f"{each['least']:.2f}", f"{each['spread'] * 100:.0f} %"]
        lines.append(f"<tr{kind}><td>{html.escape(each['benchmark'])}"
                     f"<td>{html.escape(each['variant'])}"
                     + "".join(f"<td class=number>{number}" for number in numbers))
    return "\n".join(lines) + "</table></div>"


def write(report, plots, titles, folder):
    """plots: the names of the plots of each group."""
    parts = ["<!doctype html><html lang=en><meta charset=utf-8>",
             "<meta name=viewport content='width=device-width'>",
             f"<title>apgas benchmarks</title><style>{STYLE}</style>",
             "<h1>Benchmarks of apgas and its peers</h1>"]
    if report["quick"]:
        parts.append("<p><strong>This is a run with --quick: its times mean nothing.</strong>")
    parts.append("<p>Times are of one operation, over the rounds of the run. The spread is half "
                 "the range of the middle half of the rounds, or of all if these are fewer than "
                 "four, relative to the median. Variants of "
                 "apgas are bold. Lower is better. In a plot, 1 w, 2 p stands for one worker at "
                 "each of two places.")
    for group, title in titles.items():
        records = [each for each in report["records"] if each["group"] == group]
        if not records:
            continue
        parts.append(f"<h2>{html.escape(title)}</h2>")
        for name in plots.get(group, []):
            parts.append(f"<p><a href='{name}.svg'><img src='{name}.png' "
                         f"alt='{html.escape(name.replace('_', ' '))}' loading=lazy></a>")
        parts.append(table(records))
    parts.append("<h2>How it was measured</h2><table>")
    parts.append(rows(report["machine"] | report["versions"] | {
        "rounds": report["rounds"],
        "cores used by other programs": f"{report['cores_used_by_others']:.2f}"}))
    parts.append("</table><h3>Commands</h3><pre>")
    parts.append(html.escape("\n".join(report["commands"])))
    parts.append("</pre>")
    if report["notes"]:
        parts.append("<h3>Left out</h3><ul>")
        parts.extend(f"<li>{html.escape(note)}" for note in report["notes"])
        parts.append("</ul>")
    (folder / "index.html").write_text("\n".join(parts), encoding="utf-8")
