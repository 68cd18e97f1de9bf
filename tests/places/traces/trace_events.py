# SPDX-License-Identifier: Apache-2.0
"""The events of a JSON trace, for tests."""

import collections
import json


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

    def counters(self):
        """The values that each counter has had, at all places."""
        found = collections.defaultdict(list)
        for event in self.all:
            if event["ph"] == "C":
                found[event["name"]].append(event["args"]["value"])
        return found
