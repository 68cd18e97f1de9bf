#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each check of tests/docs/pictures.py reports its problem, and is silent about a good tree."""

import hashlib
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import pictures  # noqa: E402

ROOMS = """digraph rooms {
  "sync" -> "sync/b" [style=invis]
  "sync/a" -> {"sync/b"
               "comm"}
  "sync/b" -> "scheduler"
}
"""
MODULE = """# apgas_room(sync/comment DEPENDS sync/none)
apgas_room(sync/a
  SOURCES a.cpp
  DEPENDS sync/b comm
  LINK_PRIVATE fmt::fmt)
apgas_room(sync/b DEPENDS scheduler LINK Threads::Threads)
apgas_module(sync)
"""


def svg_of(dot):
    return f"<svg/><!-- sha256 {hashlib.sha256(dot.encode()).hexdigest()} -->\n"


class Pictures(unittest.TestCase):
    def found(self, **changed):
        files = {"docs/pictures/rooms.dot": ROOMS, "docs/pictures/rooms.svg": svg_of(ROOMS),
                 "sync/CMakeLists.txt": MODULE}
        files.update({name.replace("__", "/").replace("_", "."): text
                      for name, text in changed.items()})
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                if text is None:
                    continue
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return "\n".join(pictures.problems(pathlib.Path(root)))

    def test_a_good_tree_is_silent(self):
        self.assertEqual(self.found(), "")

    def test_a_changed_source_is_reported(self):
        self.assertIn("rooms.svg is not up to date with rooms.dot",
                      self.found(docs__pictures__rooms_dot=ROOMS + "\n"))

    def test_a_missing_picture_is_reported(self):
        self.assertIn("rooms.svg is not up to date", self.found(docs__pictures__rooms_svg=None))

    def test_a_picture_without_source_is_reported(self):
        self.assertEqual("at.svg has no .dot", self.found(docs__pictures__at_svg="<svg/>"))

    def test_a_missing_edge_is_reported(self):
        self.assertEqual('rooms.dot lacks "sync/b" -> "base", a DEPENDS of sync', self.found(
            sync__CMakeLists_txt=MODULE.replace("DEPENDS scheduler", "DEPENDS scheduler base")))

    def test_an_edge_too_many_is_reported(self):
        self.assertEqual('rooms.dot has "sync/a" -> "comm", which is no DEPENDS', self.found(
            sync__CMakeLists_txt=MODULE.replace("DEPENDS sync/b comm", "DEPENDS sync/b")))

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_a_source_that_graphviz_rejects_is_reported(self):
        broken = ROOMS.rstrip("}\n")
        self.assertIn("dot rejects rooms.dot", self.found(
            docs__pictures__rooms_dot=broken, docs__pictures__rooms_svg=svg_of(broken)))


if __name__ == "__main__":
    unittest.main()
