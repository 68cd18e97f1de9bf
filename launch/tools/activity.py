# SPDX-License-Identifier: Apache-2.0
"""What the places of a job did between two looks, as apgas-top shows it. Nothing here asks or
draws."""

import collections

# Name of a column, its heading, its width, how important it is, and the key that sorts by it.
# Narrow terminals leave out the columns with the largest number first.
Column = collections.namedtuple("Column", "name heading width importance key")
COLUMNS = (
    Column("place", "PLACE", 6, 0, "p"), Column("host", "HOST", 12, 6, None),
    Column("awake", "AWAKE%", 7, 1, "u"), Column("busy", "RUNNING", 9, 4, None),
    Column("queued", "QUEUED", 8, 3, "w"), Column("tasks", "TASKS/s", 9, 1, "a"),
    Column("suspensions", "SUSP/s", 9, 2, "s"),
    Column("phases", "PHASES/s", 9, 7, "c"), Column("tried", "TRIED/s", 9, 9, "i"),
    Column("steals", "STEALS/s", 9, 8, "o"), Column("stolen", "STOLEN/s", 9, 5, "t"),
    Column("messages", "MSG/s", 9, 3, "m"), Column("frames", "FRAMES/s", 9, 8, "f"),
    Column("bytes", "BYTES/s", 9, 4, "b"), Column("memory", "RSS", 8, 2, "r"),
    Column("peak", "PEAK", 8, 8, "e"), Column("stack", "STACK", 8, 7, "k"),
)
KEYS = {column.key: column.name for column in COLUMNS if column.key}
SORTED_BY = tuple(KEYS.values())
SUMMED = ("busy", "queued", "tasks", "suspensions", "phases", "tried", "steals", "stolen",
          "messages", "frames", "bytes")
NANOSECONDS = 1e9


def short(number):
    """1234567 as "1.23M", in at most five characters."""
    for power, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * power:
            scaled = number / power
            return f"{scaled:.{0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2}f}{letter}"
    return f"{number:.0f}"


def rates(before, now):
    """The row of a place from two looks at it. Without `before`, from its start."""
    counters = now["counters"]
    old = before["counters"] if before else collections.defaultdict(int)
    elapsed = max(counters["elapsed_ns"] - old["elapsed_ns"], 1)
    seconds = elapsed / NANOSECONDS

    def per_second(*names):
        return sum(max(counters[name] - old[name], 0) for name in names) / seconds

    asleep = max(counters["asleep_ns"] - old["asleep_ns"], 0)
    workers = counters["workers"]
    return {
        "place": now["place"], "host": now["host"], "process": now["process"],
        "awake": 100 * min(max(1 - asleep / (workers * elapsed), 0), 1),
        "workers": workers, "busy": workers - now["asleep"] - now["searching"],
        "queued": now["queued"], "tasks": per_second("tasks"),
        "suspensions": per_second("suspensions"),
        "phases": per_second("clock_phases", "phaser_phases"),
        "tried": per_second("steal_attempts"), "steals": per_second("steals"),
        "stolen": per_second("stolen"), "messages": per_second("messages_sent"),
        "frames": per_second("frames_sent"), "bytes": per_second("bytes_sent"),
        "memory": now["memory_bytes"], "peak": now["memory_peak_bytes"],
        "stack": counters["deepest_stack"],
    }


def total(rows):
    """All places together. Places of one process share its memory."""
    workers = sum(row["workers"] for row in rows)
    processes = {(row["host"], row["process"]): row for row in rows}.values()
    whole = {name: sum(row[name] for row in rows) for name in SUMMED}
    whole |= {name: sum(row[name] for row in processes) for name in ("memory", "peak")}
    return dict(whole, place="all", host="", workers=workers,
                stack=max((row["stack"] for row in rows), default=0),
                awake=sum(row["awake"] * row["workers"] for row in rows) / max(workers, 1))


def cell(row, column):
    value = row[column.name]
    if column.name in ("place", "host"):
        return str(value)[:column.width - 1].ljust(column.width)
    if column.name == "awake":
        text = f"{value:.1f}"
    elif column.name == "busy":
        text = f"{value} of {row['workers']}"
    else:
        text = short(value)
    return text.rjust(column.width)


def fitting(width, sorted_by="place"):
    """The columns that fit into a line of that width: the first, the one that sorts, and others."""
    columns = list(COLUMNS)
    while len(columns) > 1 and sum(column.width for column in columns) > width:
        columns.remove(max(columns, key=lambda column: (column.name != sorted_by, column.importance,
                                                        column.width)))
    return columns


def table(rows, sorted_by, width, height=None):
    """The lines of the table: a heading, the total, and as many places as fit."""
    columns = fitting(width, sorted_by)
    lines = ["".join(column.heading.ljust(column.width) if column.name in ("place", "host")
                     else column.heading.rjust(column.width) for column in columns)]
    if len(rows) > 1:
        lines.append("".join(cell(total(rows), column) for column in columns))
    down = sorted_by != "place"
    ordered = sorted(rows, key=lambda row: (-row[sorted_by] if down else row["place"],
                                            row["place"]))
    room = len(ordered) if height is None else max(height - len(lines), 1)
    if len(ordered) > room:
        shown = ordered[:max(room - 1, 0)]
        lines += ["".join(cell(row, column) for column in columns) for row in shown]
        return lines + [f"... and {len(ordered) - len(shown)} more places"]
    return lines + ["".join(cell(row, column) for column in columns) for row in ordered]


class Sites:
    """How often workers were seen running tasks of each spawn site."""

    def __init__(self):
        self.seen, self.workers = collections.Counter(), 0

    def add(self, places):
        for place in places:
            self.workers += place["counters"]["workers"]
            for site in place["running"]:
                name = site["spawned"] or "tasks without a spawn site"
                self.seen[name] += site["workers"]

    def lines(self, most):
        return [f"{100 * number / max(self.workers, 1):6.1f}%  {site}"
                for site, number in self.seen.most_common(most)]
