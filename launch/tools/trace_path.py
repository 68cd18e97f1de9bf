# SPDX-License-Identifier: Apache-2.0
"""The critical path of a trace: what the end of the run had to wait for, in this run.

It is followed from the last task that ended back to the begin. Where a worker begins to run a
task, or goes on with one, an arrow may come from the task that spawned it, resumed it or sent it.
Then the path goes on where the arrow began, and the time in between was spent by the scheduler, or
on the way. Without an arrow nothing is known, and the path goes on where a task ended last before
that.
"""

import bisect
import collections

TASK = "task"


def critical_path(summary):
    """Returns what took time on the path, what lay between, and its begin and end.

    These are {label of a segment: time}, {name of a flow, or what was there instead: time}, and a
    pair of times. The times of the first two add up to the length.
    """
    own, between = collections.Counter(), collections.Counter()
    at = last_task(summary)
    end = begin = summary.end if at is None else summary.segments[at[0]][1][at[1]]
    visited = set()
    while at is not None and at not in visited:
        visited.add(at)
        track, number = at
        begins, ends, outermosts, labels = summary.segments[track]
        outermost = outermosts[number]
        begin = outermost
        while number >= 0 and outermosts[number] == outermost:
            own[summary.labels.texts[labels[number]]] += ends[number] - begins[number]
            number -= 1
        at = before(summary, track, outermost, number, between)
    return own, between, (begin, end)


def last_task(summary):
    """Returns the last segment of a task, as (track, number)."""
    found, latest = None, float("-inf")
    for track, (_, ends, _, labels) in summary.segments.items():
        for number in range(len(ends) - 1, -1, -1):
            if summary.labels.texts[labels[number]][0] == TASK:
                if ends[number] > latest:
                    found, latest = (track, number), ends[number]
                break
    return found


def before(summary, track, time, number, between):
    """Returns what led to the slice that began at `time`, after the segment `number`; or None."""
    arrivals = summary.tracks[track].arrivals
    last = bisect.bisect_right(arrivals, (time + 0.0015,)) - 1
    while last >= 0 and arrivals[last][0] >= time - 0.0015:
        _, flow, name = arrivals[last]
        last -= 1
        origin = summary.departures.get(flow)
        if origin is None or origin[1] > time:
            continue
        found = segment_at(summary, *origin)
        if found is not None and found != (track, number + 1):
            between[f"{name or 'arrow'} to its arrival"] += time - origin[1]
            return cut(summary, found, origin[1])
    return last_before(summary, time, between)


def last_before(summary, time, between):
    """Returns the segment of a task that ended last before `time`, on any worker; or None."""
    found, latest = None, float("-inf")
    for track, (_, ends, _, labels) in summary.segments.items():
        number = bisect.bisect_right(ends, time) - 1
        while number >= 0 and summary.labels.texts[labels[number]][0] != TASK:
            number -= 1
        if number >= 0 and ends[number] > latest:
            found, latest = (track, number), ends[number]
    if found is not None:
        between["between tasks without an arrow"] += time - latest
    return found


def segment_at(summary, track, time):
    """Returns the segment of a task that contains the time, as (track, number); or None."""
    if track not in summary.segments:
        return None
    begins, ends, _, labels = summary.segments[track]
    number = bisect.bisect_right(begins, time + 0.0015) - 1
    while number >= 0 and summary.labels.texts[labels[number]][0] != TASK:
        number -= 1
    return None if number < 0 else (track, number)


def cut(summary, found, time):
    """The path leaves the segment `found` at `time`: what comes after that is not on it."""
    track, number = found
    begins, ends, outermosts, labels = summary.segments[track]
    if begins[number] < time < ends[number]:
        ends[number] = time
    return found
