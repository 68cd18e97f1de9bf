# SPDX-License-Identifier: Apache-2.0
"""apgas-trace with traces of real runs: summary_test.py <program>, which is traced.cpp.

tests/trace/apgas_trace_test.py has traces whose numbers are known.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TRACED = sys.argv.pop(1)
TOOL = pathlib.Path(__file__).resolve().parents[3] / "launch/apgas-trace"


class Summary(unittest.TestCase):
    def numbers(self, name, **variables):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            environment = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
            environment.update(variables, APGAS_TRACE=str(path))
            subprocess.run([TRACED], env=environment, check=True, timeout=120,
                           stdout=subprocess.DEVNULL)
            done = subprocess.run([sys.executable, TOOL, "summary", "--json", path], text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = subprocess.run([sys.executable, TOOL, "summary", path], text=True,
                                  capture_output=True, check=True).stdout
            self.assertIn("Critical path", text)
        return json.loads(done.stdout)

    def check(self, found, places, workers):
        self.assertEqual([(p["name"], p["workers"]) for p in found["places"]],
                         [(f"place {i}", workers) for i in range(places)])
        for place in found["places"]:
            self.assertGreater(place["percent"]["task"], 0)
            self.assertLess(sum(place["percent"].values()), 100.5)
        sites = found["spawn_sites"]
        self.assertEqual(sites, sorted(sites, key=lambda s: -s["time"]))
        self.assertTrue(any(s["site"].startswith("traced.cpp:") for s in sites), sites)
        self.assertEqual(sum(g["tasks"] for g in found["grains"]) >= len(sites), True)
        self.assertGreater(found["number_of_waits"], 0)
        for wait in found["waits"]:
            self.assertLessEqual(wait["time"], found["duration"])
        self.assertTrue(all(wait["by"] for wait in found["waits"]), found["waits"])
        path = found["critical_path"]  # has no gaps, and leads through main
        length = sum(t["time"] for t in path["tasks"]) + sum(path["between"].values())
        self.assertAlmostEqual(length, path["end"] - path["begin"], delta=0.1)
        self.assertIn("main", [t["site"] for t in path["tasks"]])

    def test_one_place(self):
        for name in ("run.json", "run.pftrace"):
            for workers in (1, 3):
                with self.subTest(name=name, workers=workers):
                    self.check(self.numbers(name, APGAS_WORKERS=str(workers)), 1, workers)

    def test_several_places(self):
        for places in (2, 4):
            with self.subTest(places=places):
                found = self.numbers("run.json", APGAS_PLACES=str(places), APGAS_WORKERS="2",
                                     APGAS_TRANSPORT="local")
                self.check(found, places, 2)


if __name__ == "__main__":
    unittest.main(verbosity=1)
