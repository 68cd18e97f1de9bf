# SPDX-License-Identifier: Apache-2.0
"""The events of a trace, for tests: those of a JSON file, and what Perfetto reads in a .pftrace."""

import collections
import json

ARGUMENTS = ("task", "place", "where", "in", "site", "object", "ended", "clock", "phase")
# Arrows, waits with phases, and values of counters: Events.rows_of_queries(), by Perfetto's trace
# processor.
QUERIES = (
    "select begun.name, p.pid, t.tid, ended.name, q.pid, u.tid from flow "
    "join slice begun on begun.id = slice_out join thread_track a on a.id = begun.track_id "
    "join thread t on t.utid = a.utid join process p on p.upid = t.upid "
    "join slice ended on ended.id = slice_in join thread_track b on b.id = ended.track_id "
    "join thread u on u.utid = b.utid join process q on q.upid = u.upid",
    "select p.pid, s.category, s.name"
    + "".join(f", extract_arg(s.arg_set_id, 'debug.{name}')" for name in ARGUMENTS)
    + " from slice s join process_track t on t.id = s.track_id join process p using (upid) "
    "where s.category in ('wait', 'phase')",
    "select p.pid, t.name, c.value from counter c join process_counter_track t "
    "on t.id = c.track_id join process p using (upid)")


class Events:
    """The events of a JSON trace."""

    def __init__(self, path):
        whole = json.loads(path.read_text())
        self.all = whole["traceEvents"]
        self.metadata = whole["metadata"]

    def of(self, category, *kinds):
        return [e for e in self.all if e.get("cat") == category and e["ph"] in kinds]

    def flows(self, name):
        begins = {e["id"]: e for e in self.of("flow", "s") if e["name"] == name}
        return [(begins[e["id"]], e) for e in self.of("flow", "f") if e["name"] == name]

    def slice_around(self, end):
        """The event that begins the slice in which this end of an arrow lies."""
        begun = []
        for event in self.all:
            if event is end:
                return begun[-1]
            if (event["pid"], event.get("tid")) == (end["pid"], end["tid"]):
                if event["ph"] == "B":
                    begun.append(event)
                elif event["ph"] == "E":
                    begun.pop()
        raise ValueError(end)

    def waits_of(self, task):
        """The begins and ends of the waits of a task; an end follows its begin in the file."""
        return [pair for pair in zip(self.all, self.all[1:])
                if pair[0]["ph"] == "b" and pair[0]["cat"] == "wait"
                and pair[0]["args"]["task"] == task]

    def rows_of_queries(self):
        begins = {e["id"]: e for e in self.of("flow", "s")}
        yield [tuple(side[key] for side in (begins[e["id"]], e) for key in ("name", "pid", "tid"))
               for e in self.of("flow", "f")]
        yield [(e["pid"], e["cat"], e["name"], *map(e["args"].get, ARGUMENTS))
               for e in self.all if e["ph"] == "b"]
        yield [(e["pid"], e["name"], e["args"]["value"]) for e in self.all if e["ph"] == "C"]

    def counters(self):
        """The values that each counter has had, at all places."""
        found = collections.defaultdict(list)
        for event in self.all:
            if event["ph"] == "C":
                found[event["name"]].append(event["args"]["value"])
        return found
