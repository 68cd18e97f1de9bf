# SPDX-License-Identifier: Apache-2.0
"""What people ask of a trace first: the numbers that `apgas-trace summary` prints.

Each worker is a track of slices, which nest: a task that runs on top of another one lies within its
slice. A sweep over a track cuts it into segments, in each of which one slice is the innermost. The
time of a task is that of its segments, so no time counts twice.
"""

import array
import collections
import heapq
import re

from trace_reader import Flow, Metadata, Name, Slice

TASK = "task"
WORKER = re.compile(r"worker \d+")


class Track:
    """The slices of a thread, in the order of their ends."""

    def __init__(self):
        self.begin, self.end = array.array("d"), array.array("d")
        self.label, self.task = array.array("l"), array.array("l")
        self.arrivals = []  # (time, number of the flow, its name)

    def add(self, begin, end, label, task):
        self.begin.append(begin)
        self.end.append(end)
        self.label.append(label)
        self.task.append(task)

    def segments(self):
        """Yields (begin, end, slice, begin of the outermost slice around it), in order."""
        stack, at = [], 0.0
        for each in sorted(range(len(self.begin)), key=lambda i: (self.begin[i], -self.end[i])):
            begin = self.begin[each]
            while stack and self.end[stack[-1]] <= begin:
                inner = stack.pop()
                if self.end[inner] > at:
                    yield at, self.end[inner], inner, self.begin[stack[0] if stack else inner]
                    at = self.end[inner]
            if stack and begin > at:
                yield at, begin, stack[-1], self.begin[stack[0]]
            at = max(at, begin)
            stack.append(each)
        while stack:
            inner = stack.pop()
            if self.end[inner] > at:
                yield at, self.end[inner], inner, self.begin[stack[0] if stack else inner]
                at = self.end[inner]


class Numbers:
    """Numbers for texts, so that they fit arrays."""

    def __init__(self):
        self.of, self.texts = {}, []

    def __call__(self, text):
        number = self.of.get(text)
        if number is None:
            number = self.of[text] = len(self.texts)
            self.texts.append(text)
        return number


class Summary:
    """The contents of a trace, added event by event, and then finish()."""

    def __init__(self, longest=10):
        self.tracks = collections.defaultdict(Track)
        self.names, self.metadata = {}, {}
        self.labels, self.tasks = Numbers(), Numbers()
        self.ended = collections.Counter()      # label of a task: how many have ended
        self.labels_of_tasks = array.array("l")  # for each task: its label
        self.departures = {}                    # number of a flow: (track, time)
        self.waits, self.longest, self.wait_count = [], longest, 0
        self.begin, self.end = float("inf"), float("-inf")

    def add(self, event):
        if isinstance(event, Slice):
            self.add_slice(event)
        elif isinstance(event, Flow):
            if event.leaves:
                self.departures[event.number] = (event.track, event.time)
            else:
                self.tracks[event.track].arrivals.append((event.time, event.number, event.name))
        elif isinstance(event, Name):
            self.names[event.track] = event.text
        elif isinstance(event, Metadata):
            self.metadata = event.facts

    def add_slice(self, event):
        begin, end = event.begin, event.begin + max(event.duration, 0.0)
        if event.category == "wait":
            self.wait_count += 1
            wait = (event.duration, self.wait_count, event)  # the number decides between equals
            if len(self.waits) < self.longest:
                heapq.heappush(self.waits, wait)
            else:
                heapq.heappushpop(self.waits, wait)
        if not isinstance(event.track[1], int) or event.duration == 0.0:
            return
        self.begin, self.end = min(self.begin, begin), max(self.end, end)
        label = self.labels((event.category, event.name))
        task = -1
        if event.category == TASK:
            task = self.tasks(event.details.get("task"))
            if task == len(self.labels_of_tasks):
                self.labels_of_tasks.append(label)
            if event.details.get("then") == "ended":
                self.ended[label] += 1
        self.tracks[event.track].add(begin, end, label, task)

    def finish(self):
        """Cuts the tracks into segments. To be called once, after the last event."""
        self.times = collections.defaultdict(lambda: collections.Counter())  # process: category
        self.of_label = collections.Counter()
        self.of_task = array.array("d", bytes(8 * len(self.tasks.texts)))
        self.segments = {}
        for key, track in self.tracks.items():
            kept = self.segments[key] = [array.array("d") for _ in range(3)] + [array.array("l")]
            for begin, end, each, outermost in track.segments():
                category, _ = self.labels.texts[track.label[each]]
                self.times[key[0]][category] += end - begin
                self.of_label[track.label[each]] += end - begin
                if track.task[each] >= 0:
                    self.of_task[track.task[each]] += end - begin
                for values, value in zip(kept, (begin, end, outermost, track.label[each])):
                    values.append(value)
            track.arrivals.sort()

    def label_of(self, task):
        """Returns the name of a task, or its spawn site; None if the task has no slice."""
        number = self.tasks.of.get(task)
        return None if number is None else self.labels.texts[self.labels_of_tasks[number]][1]

    def workers_of(self, process):
        return sum(track[0] == process and track[1] is not None and
                   WORKER.fullmatch(text) is not None for track, text in self.names.items())

    def places(self):
        """Returns (name, workers, {category: percent of the time of the workers}) of each place."""
        lasted = max(self.end - self.begin, 1e-9)
        for process in sorted({track[0] for track in self.names} | {t[0] for t in self.tracks}):
            workers = self.workers_of(process)
            yield (self.names.get((process, None), f"process {process}"), workers,
                   {category: 100 * time / (lasted * max(workers, 1))
                    for category, time in self.times[process].items()})

    def spawn_sites(self):
        """Returns (name, tasks that have ended, time) of each, the longest time first."""
        found = [(self.labels.texts[label][1], self.ended[label], self.of_label[label])
                 for label in set(self.of_label) | set(self.ended)
                 if self.labels.texts[label][0] == TASK]
        return sorted(found, key=lambda row: -row[2])

    def grains(self):
        """Returns the number of tasks and their time, for each decade of the time of a task."""
        found = collections.defaultdict(lambda: [0, 0.0])
        for time in self.of_task:
            decade = len(str(int(time * 1000))) if time >= 0.001 else 0  # digits of nanoseconds
            found[decade][0] += 1
            found[decade][1] += time
        return sorted(found.items())
