#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of apgas-top and its keys, without a job and without a terminal.

tests/places/control/top_test.py tests apgas-top with both.
"""

import curses
import pathlib
import subprocess
import sys
import types
import unittest

sys.dont_write_bytecode = True
LAUNCH = pathlib.Path(__file__).resolve().parents[2] / "launch"
sys.path.insert(0, str(LAUNCH / "tools"))
import activity  # noqa: E402
import job_screen  # noqa: E402


class Rows(unittest.TestCase):
    """What is made of two looks at a place."""

    @staticmethod
    def place(number=0, **changes):
        counters = dict.fromkeys(
            ("tasks", "suspensions", "clock_phases", "phaser_phases", "steal_attempts", "steals",
             "stolen", "messages_sent", "frames_sent", "bytes_sent", "deepest_stack"), 0)
        counters.update(elapsed_ns=0, asleep_ns=0, workers=2)
        counters.update({k: v for k, v in changes.items() if k in counters})
        return {"place": number, "host": "a", "process": changes.get("process", 1), "asleep": 0,
                "searching": 1, "queued": 3, "memory_bytes": 5 << 20,
                "memory_peak_bytes": 6 << 20, "counters": counters,
                "running": changes.get("running", [])}

    def test_rates_are_those_between_the_looks(self):
        row = activity.rates(self.place(suspensions=100, asleep_ns=10**9, elapsed_ns=10**9),
                             self.place(suspensions=300, asleep_ns=2 * 10**9, elapsed_ns=3 * 10**9,
                                        bytes_sent=4000))
        self.assertAlmostEqual(row["suspensions"], 100)
        self.assertAlmostEqual(row["bytes"], 2000)
        self.assertAlmostEqual(row["awake"], 75)
        self.assertEqual(row["busy"], 1)

    def test_counters_that_begin_anew_give_no_negative_rates(self):
        row = activity.rates(self.place(suspensions=900, elapsed_ns=9 * 10**9, asleep_ns=10**9),
                             self.place(suspensions=1, elapsed_ns=10**9))
        self.assertEqual(row["suspensions"], 0)
        self.assertLessEqual(row["awake"], 100)

    def test_places_of_one_process_share_its_memory(self):
        rows = [activity.rates(None, self.place(number, elapsed_ns=10**9, process=process))
                for number, process in enumerate((1, 1, 2))]
        whole = activity.total(rows)
        self.assertEqual((whole["memory"], whole["peak"], whole["queued"]), (10 << 20, 12 << 20, 9))

    def test_each_counter_has_its_column(self):
        row = activity.rates(self.place(), self.place(
            elapsed_ns=2 * 10**9, tasks=50, clock_phases=6, phaser_phases=2, steal_attempts=20,
            steals=10, stolen=30, messages_sent=4, frames_sent=8, deepest_stack=12_288))
        names = "tasks phases tried steals stolen messages frames stack".split()
        self.assertEqual([row[name] for name in names], [25, 4, 10, 5, 15, 2, 4, 12_288])
        deeper = dict(row, stack=20_480)
        self.assertEqual(activity.total([row, deeper])["stack"], 20_480)
        self.assertEqual(activity.total([row, deeper])["phases"], 8)
        heading = activity.table([row], "place", 200)[0].split()
        self.assertEqual(heading, [column.heading for column in activity.COLUMNS])

    def test_the_column_that_sorts_is_shown(self):
        rows = [activity.rates(None, self.place(number, elapsed_ns=10**9)) for number in range(2)]
        for column in activity.COLUMNS:
            if column.key:
                self.assertIn(column.heading, activity.table(rows, column.name, 24)[0])

    def test_narrow_terminals_leave_out_columns(self):
        rows = [activity.rates(None, self.place(number, elapsed_ns=10**9)) for number in range(3)]
        for width in range(1, 150):
            for text in activity.table(rows, "place", width):
                self.assertLessEqual(len(text), max(width, 6))
        self.assertIn("HOST", activity.table(rows, "place", 150)[0])
        self.assertNotIn("HOST", activity.table(rows, "place", 70)[0])
        self.assertIn("AWAKE%", activity.table(rows, "place", 20)[0])

    def test_short_terminals_leave_out_places(self):
        rows = [activity.rates(None, self.place(number, elapsed_ns=10**9)) for number in range(50)]
        lines = activity.table(rows, "place", 100, height=10)
        self.assertEqual(len(lines), 10)
        self.assertEqual(lines[-1], "... and 43 more places")

    def test_sorting(self):
        rows = [dict(activity.rates(None, self.place(number, elapsed_ns=10**9)), bytes=number % 3)
                for number in range(4)]
        first = [text.split()[0] for text in activity.table(rows, "bytes", 100)[2:]]
        self.assertEqual(first, ["2", "1", "0", "3"])

    def test_numbers_stay_short(self):
        for number, text in ((0, "0"), (999, "999"), (999.6, "1.00k"), (1000, "1.00k"),
                             (12_345, "12.3k"), (999_999, "1.00M"), (5 << 20, "5.24M"),
                             (123e9, "123G"), (99.96e3, "100k"), (7e12, "7.00T")):
            self.assertEqual(activity.short(number), text)


class Window:
    """Stands for the window of curses, and has the lines that were drawn last."""

    def __init__(self, rows, columns):
        self.size, self.lines = (rows, columns), {}

    def getmaxyx(self):
        return self.size

    def erase(self):
        self.lines = {}

    def addnstr(self, row, _column, text, most, _attribute):
        self.lines[row] = text[:most]

    def timeout(self, _milliseconds):
        pass

    def refresh(self):
        pass


class Keys(unittest.TestCase):
    """What each key changes on the screen, without a terminal."""

    def setUp(self):
        # In each column a place has its number, so that place 2 is first where the largest is.
        rows = [activity.rates(None, Rows.place(i, elapsed_ns=10**9)) for i in range(3)]
        for i, row in enumerate(rows):
            row.update({name: i for name in activity.SORTED_BY})
        observed = types.SimpleNamespace(
            rows=rows, trace="", problem="", report=lambda: [f"line {i}" for i in range(40)])
        options = types.SimpleNamespace(sort="place", interval=1.0, trace=None)
        self.window = Window(12, 80)
        self.screen = job_screen.Screen(self.window, observed, options, lambda _: "headline")
        self.screen.draw()

    def press(self, key):
        """Returns whether the screen goes on."""
        return self.screen.on_key(ord(key) if isinstance(key, str) else key)

    def test_the_help_has_each_key(self):
        keys = [column.key for column in activity.COLUMNS if column.key]
        self.assertEqual(len(set(keys)), len(keys))
        said = subprocess.run([sys.executable, LAUNCH / "apgas-top", "--help"], check=True,
                              capture_output=True, text=True).stdout
        self.assertIn(f"Keys: {' '.join(keys)} sort by place, ", said)

    def test_each_letter_sorts_by_its_column(self):
        for column in activity.COLUMNS:
            if column.key:
                self.assertTrue(self.press(column.key))
                self.assertIn(column.heading, self.window.lines[1].split())
                first = "0" if column.name == "place" else "2"
                self.assertEqual(self.window.lines[3].split()[0], first, column.name)
                self.press("p")
                self.assertEqual(self.window.lines[3].split()[0], "0")

    def test_plus_and_minus_change_the_interval(self):
        for key, shown in (("+", "0.5"), ("+", "0.5"), *(("-", f"{2 ** i}") for i in range(6)),
                           ("-", "60"), ("-", "60"), ("+", "30")):
            self.press(key)
            self.assertIn(f"+/- {shown} s ", self.window.lines[11])
            self.assertTrue(self.window.lines[11].endswith(activity.COLUMNS[-1].key))

    def test_the_report_scrolls(self):
        up, down, page_up, page_down = (curses.KEY_UP, curses.KEY_DOWN, curses.KEY_PPAGE,
                                        curses.KEY_NPAGE)
        self.press("h")
        for key, first in ((down, 1), (down, 2), (up, 1), (up, 0), (up, 0), (page_down, 10),
                           (page_down, 20), (page_up, 10), (page_down, 20), (page_down, 30),
                           (page_down, 30), (down, 30), (up, 29)):
            self.press(key)
            drawn = [self.window.lines[row] for row in range(1, 11)]
            self.assertEqual(drawn, [f"line {i}" for i in range(first, first + 10)])
        self.assertTrue(self.press("q"), "any other key goes back")
        self.assertIn("PLACE", self.window.lines[1])
        self.press("h")
        self.assertEqual(self.window.lines[1], "line 0")

    def test_q_quits(self):
        self.assertFalse(self.press("q"))
        self.assertFalse(self.press("Q"))
        self.assertTrue(self.press("z"))


if __name__ == "__main__":
    unittest.main()
