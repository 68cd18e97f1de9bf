#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How programs that keep their main start and end, on one place and on several.

Arguments: see jobs.py; the program is embedded instead of behave.
"""

import pathlib
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "jobs"))

from jobs import (BEHAVE, NETWORKS, WITH_MPI, Job, is_local, is_relaunched, jobs,  # noqa: E402
                  main, mpirun, own_lines)


def by_launcher(places):
    """The ways to start so many places in which the program does not start itself again."""
    return [way for way in jobs(places) if is_local(way) or "wrapper" in way]


class Start(unittest.TestCase):
    def check_hello(self, what, places, way):
        with self.subTest(what=what, way=way):
            code, out, err = Job(what, **way).end()
            self.assertEqual((code, own_lines(err)), (0, []), err)
            self.assertEqual(sorted(re.findall(r"hello from place (\d)", out)),
                             [str(p) for p in range(places)])
            self.assertEqual(out.count(f"{places} places"), 1, out)
            return out

    def test_every_way_to_start(self):
        for places in (1, 2, 4):
            for way in jobs(places, NETWORKS):
                self.check_hello("hello", places, way)

    def test_without_the_arguments_of_main(self):
        self.check_hello("no_arguments", 1, {})
        for way in by_launcher(2):
            self.check_hello("no_arguments", 2, way)

    def test_other_places_may_serve_in_the_constructor(self):
        for way in jobs(2):
            out = self.check_hello("serve_and_exit", 2, way)
            self.assertEqual(re.findall(r"place (\d) goes on", out), ["0"])

    def test_a_library_may_start_it_at_its_first_use(self):
        self.check_hello("library", 1, {})
        for way in by_launcher(2):
            out = self.check_hello("library", 2, way)
            self.assertEqual(re.findall(r"place (\d) goes on", out), ["0"])


class Refusals(unittest.TestCase):
    """The constructor throws at every place, and place 0 can say why."""

    def check(self, reason, what, **way):
        with self.subTest(reason=reason, way=way):
            code, out, err = Job(what, **way).end()
            self.assertEqual(code, 5, err)
            self.assertRegex(err, f"not started: {reason}")
            self.assertEqual(own_lines(err), [], err)  # the library itself is silent
            self.assertNotIn("hello", out)

    def test_bad_settings(self):
        self.check("APGAS_WORKERS=0: expected", "hello", APGAS_WORKERS="0")
        if WITH_MPI:
            self.check("APGAS_WORKERS=0: expected", "hello", wrapper=mpirun(2), APGAS_WORKERS="0")

    def test_places_that_do_not_fit_together(self):
        if not WITH_MPI:
            return
        different = ["mpirun", "-n", "1", "sh", "-c", 'APGAS_TRANSPORT=mpi exec "$@"', "sh"]
        job = [*different, BEHAVE, "hello", "0", ":", "-n", "1", "sh", "-c",
               'APGAS_TRANSPORT=ucx exec "$@"', "sh"]
        self.check("the places do not agree on APGAS_TRANSPORT", "hello", wrapper=job)

    def test_no_mpirun(self):
        self.check("APGAS_PLACES=2 needs mpirun.*APGAS_TRANSPORT=local", "hello", APGAS_PLACES="2",
                   PATH="/nonexistent")

    def test_several_places_without_the_arguments_of_main(self):
        for what in ("no_arguments", "library"):
            self.check("APGAS_PLACES=2, but an apgas::runtime that is made without argc and argv "
                       "cannot .*: start the program with `apgas-run -n 2`, or set "
                       "APGAS_TRANSPORT=local", what, APGAS_PLACES="2")


class End(unittest.TestCase):
    def test_code(self):
        for what in ("code", "serve_and_exit"):
            for way in jobs(2):
                with self.subTest(what=what, way=way):
                    code, _, err = Job(what, "7", **way).end()
                    self.assertEqual((code, own_lines(err)), (7, []), err)

    def test_a_failure_that_nothing_caught(self):
        for way in jobs(2):
            for place in ("0", "1"):
                with self.subTest(way=way, place=place):
                    code, _, err = Job("fail", place, **way).end()
                    self.assertEqual((code, len(own_lines(err))), (1, 1), err)
                    self.assertRegex(err, "exceptions that nothing caught reached the end of "
                                          "apgas::runtime: 1 task failed\n  std::out_of_range: row "
                                          rf"7 \(place {place}, spawned at .*embedded.cpp:\d+\)")

    def test_a_task_of_one_place_exits_without_a_word(self):
        ways = [{}, {"APGAS_PLACES": "1", "APGAS_TRANSPORT": "local"}]
        ways += [{"wrapper": mpirun(1), "APGAS_TRANSPORT": network} for network in NETWORKS]
        for what in ("exit", "run_exit", "library_exit"):
            for way in ways:
                with self.subTest(what=what, way=way):
                    code, _, err = Job(what, "0", **way).end()
                    self.assertEqual((code, own_lines(err)), (3, []), err)
                    self.assertNotIn("improperly", err)  # MPI has ended in order

    def test_a_task_of_several_places_that_exits_ends_the_job(self):
        for what, which in (("exit", "an apgas::runtime"), ("run_exit", "a run"),
                            ("library_exit", "an apgas::runtime")):
            for way in jobs(2) if what != "library_exit" else by_launcher(2):
                for place in ("0", "1"):
                    with self.subTest(what=what, way=way, place=place):
                        code, _, err = Job(what, place, **way).end(timeout=30)
                        self.assertNotEqual(code, 0, err)
                        lines = err.splitlines() if is_relaunched(way) else own_lines(err)
                        self.assertEqual(len(lines), 1, err)
                        self.assertIn(f"the process exits while {which} is active; this ends the "
                                      "job", err)


if __name__ == "__main__":
    main()
