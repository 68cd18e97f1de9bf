#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the reports of apgas-ps say of groups of tasks, of their waits and of coroutines. Arguments
as for control_test.py."""

import ctypes.util
import json
import unittest

from control_test import SINCE, job, line, members, report_when, run

import control_socket  # this path is set by control_test


class Reports(unittest.TestCase):
    def test_says_for_how_long_earlier_reports_have_seen_a_wait(self):
        with job("suspended") as process:
            _, out, _ = report_when(r" 3 in latch.*, for at least [1-9]\d* s$", process.pid)
            self.assertRegex(out, r" 1 in semaphore::acquire .*, for at least \d+ s\n")
            answer = json.loads(run("apgas-ps", process.pid, "--json")[1])
        (place,) = answer["processes"][0]["places"]
        self.assertGreaterEqual(max(group["waited_s"] for group in place["groups"]), 1)
        self.assertFalse(place["observed"])
        with job("suspended", APGAS_WATCHDOG="100") as process:
            _, out, _ = report_when(r" 3 in latch.*, for [1-9]\d* s$", process.pid)
        self.assertRegex(out, r" 1 in semaphore::acquire .*, for \d+ s\n")
        with job("suspended", APGAS_TRANSPORT="local", APGAS_PLACES="2") as process:
            _, out, _ = report_when(r"  .* 6 in latch.*, for at least \d+ s, at places 0 and 1",
                                    process.pid)
        self.assertRegex(out, ", for at least [1-9]")

    def test_json_has_all_groups_of_which_the_text_has_twenty(self):
        with job("named", APGAS_TRANSPORT="local", APGAS_PLACES="2") as process:
            _, out, _ = report_when(r"^  \d+ tasks wait: 2 in latch.*and 2\d more tasks in other",
                                    process.pid)
            answer = json.loads(run("apgas-ps", process.pid, "--json")[1])
        self.assertRegex(out, r"\n +and 1\d more such groups\n")
        for place in answer["processes"][0]["places"]:
            self.assertEqual({group["name"] for group in place["groups"] if group["name"]},
                             {f"reader {i}" for i in range(30)})
        groups = [group for group in answer["groups_of_all_places"] if "reader" in group["task"]]
        self.assertEqual(len(groups), 30)
        for group in groups:
            self.assertEqual((group["tasks"], group["places"]), (2, [0, 1]))
            self.assertRegex(group["waits_in"], r"^latch::wait at \S+observed.cpp:\d+$")

    def test_coroutines_that_wait_without_a_stack(self):
        with job("coroutines") as process:
            _, out, err = report_when(r"(?s)(?=.* 3 in co_await)(?=.* 1 in a phase)", process.pid)
            _, stacks, _ = run("apgas-ps", process.pid, "--stacks")
            _, later, _ = report_when(r" 3 in co_await.*, for at least [1-9]\d* s", process.pid)
        self.assertEqual(err, "")
        self.assertRegex(out, rf"(?m)^ +3 in co_await of a future at {line('co_await')}, "
                              rf"\"reader\", spawned at {line('readers')}{SINCE}"
                              r"( \(the promise made at .*\))?$")
        self.assertRegex(out, rf"(?m)^ +1 in a phase of a clock at {line('awaited phase')}, "
                              rf"spawned at {line('spawn of advancing')}{SINCE}"
                              r"( \(phase 0 of the clock|$)")
        self.assertIn("for at least", later)
        if ctypes.util.find_library("dw"):
            self.assertRegex(stacks, rf"place 0: 3 tasks wait in co_await of a future at "
                                     rf"{line('co_await')}, .*\n    #0  a coroutine, which has no")

    def test_reports_while_tasks_and_coroutines_come_and_go(self):
        with job("working", APGAS_TRANSPORT="local", APGAS_PLACES="2") as process:
            member, seen = members(process)[0], 0
            for _ in range(50):
                for request in ("report", "stacks", "groups of all places"):
                    answer = control_socket.ask(member, request)
                    seen += sum(place["waiting"] for place in answer.get("places", []))
        self.assertGreater(seen, 0)


if __name__ == "__main__":
    unittest.main()
