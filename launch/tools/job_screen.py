# SPDX-License-Identifier: Apache-2.0
"""The screen of apgas-top."""

import curses
import time

from activity import KEYS, Sites, table
from control_socket import Unanswered
from running_jobs import USAGE_ERROR, NoJob

SAMPLE_MS = 100
FASTEST, SLOWEST = 0.5, 60.0  # seconds between two looks
HELP = "q quit  h report  x trace  +/- {:g} s  sort: " + " ".join(KEYS)  # fits 80 columns


class Screen:
    def __init__(self, window, observed, options, headline):
        self.window, self.observed, self.headline = window, observed, headline
        self.sorted_by, self.interval = options.sort, options.interval
        self.trace_path = options.trace
        self.sites = []  # of the last interval
        self.report = None  # the lines of the hang report, while it is shown
        self.first = 0  # its first line on the screen
        try:
            curses.curs_set(0)
        except curses.error:
            pass  # this terminal cannot hide its cursor
        window.timeout(SAMPLE_MS)

    def put(self, row, text, attribute=curses.A_NORMAL):
        """Writes a line as far as it fits."""
        height, width = self.window.getmaxyx()
        if 0 <= row < height and width > 1:
            try:
                self.window.addnstr(row, 0, text, width - 1, attribute)
            except curses.error:
                pass  # the terminal became smaller in this moment

    def draw(self):
        self.window.erase()
        height, width = self.window.getmaxyx()
        self.put(0, self.headline(self.observed), curses.A_BOLD)
        if self.report is not None:
            self.first = min(self.first, max(len(self.report) - (height - 2), 0))
            for row, line in enumerate(self.report[self.first:self.first + height - 2], 1):
                self.put(row, line)
            self.put(height - 1, "up and down scroll; any other key goes back", curses.A_REVERSE)
            self.window.refresh()
            return
        sites = self.sites[:max(min(height // 3, len(self.sites)), 0)]
        lines = table(self.observed.rows, self.sorted_by, width - 1,
                      max(height - 5 - len(sites), 3))
        for row, line in enumerate(lines, 1):
            self.put(row, line, curses.A_REVERSE if row == 1 else curses.A_NORMAL)
        row = len(lines) + 2
        self.put(row, "workers run tasks spawned at:" if sites else "no worker runs a task")
        for number, line in enumerate(sites, row + 1):
            self.put(number, line)
        traced = f"{self.observed.trace}  " if self.observed.trace else ""
        self.put(height - 1, self.observed.problem or traced + HELP.format(self.interval),
                 curses.A_REVERSE)
        self.window.refresh()

    def scroll(self, key):
        """Returns whether the key moves the report."""
        page = max(self.window.getmaxyx()[0] - 2, 1)
        steps = {curses.KEY_UP: -1, curses.KEY_DOWN: 1, curses.KEY_PPAGE: -page,
                 curses.KEY_NPAGE: page}
        if key in steps:
            self.first = max(self.first + steps[key], 0)
        return key in steps

    def on_key(self, key):
        """Returns whether the screen goes on."""
        if key == curses.KEY_RESIZE:
            curses.update_lines_cols()
        elif self.report is not None:
            if not self.scroll(key):
                self.report = None
        else:
            letter = chr(key) if 0 <= key < 128 else ""
            if letter in ("q", "Q"):
                return False
            if letter == "h":
                self.report, self.first = self.observed.report(), 0
            elif letter == "x":
                self.observed.toggle_trace(self.trace_path)
            elif letter in KEYS:
                self.sorted_by = KEYS[letter]
            elif letter in ("+", "-"):
                factor = 0.5 if letter == "+" else 2
                self.interval = min(max(self.interval * factor, FASTEST), SLOWEST)
        self.draw()
        return True

    def run(self):
        next_look = time.monotonic() + self.interval
        self.draw()
        while True:
            key = self.window.getch()
            if key != -1 and not self.on_key(key):
                return
            if time.monotonic() < next_look:
                self.sample()
                continue
            self.look()
            next_look = time.monotonic() + self.interval
            self.draw()

    def sample(self):
        try:
            self.observed.sample()
        except Unanswered as error:
            self.observed.problem = str(error)

    def look(self):
        try:
            self.observed.look()
        except Unanswered as error:
            self.observed.problem = str(error)
        self.sites = self.observed.sites.lines(100)
        self.observed.sites = Sites()


def show(observed, options, headline):
    """Shows the job until a key ends it. The terminal is restored however this function ends."""
    try:
        curses.wrapper(lambda window: Screen(window, observed, options, headline).run())
    except curses.error as error:
        raise NoJob(f"this terminal cannot be used ({error}): set TERM, or use --batch",
                    USAGE_ERROR) from None
