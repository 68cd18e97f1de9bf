#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each check of tests/tidy.py reports its violation, and is silent about good code."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tidy  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
PAIR = "// P1  the store publishes to the load\n"


def check(files):
    output = io.StringIO()
    with tempfile.TemporaryDirectory() as root, contextlib.redirect_stdout(output):
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        failed = tidy.Checker(pathlib.Path(root)).run()
    return failed, output.getvalue()


class Tidy(unittest.TestCase):
    def reports(self, message, name, text, **others):
        failed, output = check({name: text, **others})
        self.assertTrue(failed, output)
        self.assertIn(message, output)
        self.assertIn(", 1 problems", output)

    def test_good_code_is_silent(self):
        failed, output = check({
            "sync/src/a.hpp": SPDX + "#pragma once\n" + PAIR + "namespace apgas::inline v0 {}\n"
                              "f.store(1, release);  // P1\n",
            "sync/src/a.cpp": SPDX + "f.load(acquire);  // P1\n",
            "sync/src/b.cpp": SPDX + "f.load(acquire);  // P1 of a.hpp\n",
            "sync/src/c.hpp": SPDX + "#pragma once\n" + PAIR + "f.fetch_sub(1, acq_rel);  // P1\n",
            "README.md": "see `sync/src/a.cpp : load` and [a](sync/src/a.cpp)\n",
            "tests/tsan.supp": "# sync is not named\ncalled_from_lib:libmpi\n"})
        self.assertFalse(failed, output)

    def test_head(self):
        self.reports("SPDX", "base/src/a.cpp", "int a;\n")
        self.reports("#pragma once", "base/src/a.hpp", SPDX)

    def test_lines(self):
        self.reports("longer than 100", "apps/a.cpp", SPDX + "/" * 101 + "\n")
        self.reports("longer than 400", "apps/a.cpp", SPDX + "\n" * 400)

    def test_left_overs(self):
        self.reports("left for later", "apps/a.cpp", SPDX + "// TO" + "DO: more\n")
        self.reports("does not run", "tests/a.cpp", SPDX + "TEST(A, DIS" + "ABLED_b) {}\n")

    def test_namespace(self):
        self.reports("inline v0", "base/src/a.cpp", SPDX + "namespace apgas::base {\n")

    def test_threads(self):
        self.reports("thread_local", "scheduler/src/a.cpp", SPDX + "thread_local int a;\n")
        self.reports("suspend the task", "sync/src/a.cpp", SPDX + "std::mutex m;\n")

    def test_wrapped_headers(self):
        self.reports("mpi.h may be", "places/src/a.cpp", SPDX + "#include <mpi.h>\n")
        self.reports("cereal/x.hpp may be", "sync/src/a.cpp", SPDX + "#include <cereal/x.hpp>\n")
        self.reports("atomic may be", "sync/src/a.cpp", SPDX + "#include <atomic>\n")
        self.reports("fmt only", "sync/include/apgas/a.hpp",
                     SPDX + "#pragma once\n#include <fmt/format.h>\n")

    def test_orders(self):
        self.reports("name the pair", "sync/src/a.cpp", SPDX + "f.load(acquire);\n")
        self.reports("one end only", "sync/src/a.cpp", SPDX + PAIR + "f.load(acquire);  // P1\n")
        self.reports("not described", "sync/src/a.cpp",
                     SPDX + "f.load(acquire);  // P1\nf.store(1, release);  // P1\n")
        self.reports("name the memory order", "sync/src/a.cpp",
                     SPDX + "#include <apgas/base/atomic.hpp>\nf.load();\n")

    def test_nolint(self):
        self.reports("must name its check", "sync/src/a.cpp", SPDX + "int a;  // NOLINT\n")

    def test_suppressions(self):
        self.reports("our own code", "tests/tsan.supp", "race:apgas::async\n")

    def test_documents(self):
        self.reports("no file", "docs/a.md", "`sync/src/a.cpp : f`\n")
        self.reports("has no g", "docs/a.md", "`sync/src/a.cpp : g`\n",
                     **{"sync/src/a.cpp": SPDX + "void f();\n"})
        self.reports("leads nowhere", "docs/a.md", "[b](b.md)\n")

    def test_the_readme_is_short(self):
        self.reports("README.md:149: has more than 149 lines", "README.md", "a\n" * 150)
        self.assertFalse(check({"README.md": "a\n" * 149, "apps/README.md": "a\n" * 150})[0])

    def test_blocks_of_documents(self):
        self.reports("a.md:4: the block names no language", "apps/a.md",
                     "```sh\nls\n```\n```\nls\n```\n")
        self.reports("a.md:2: the block names no language", "a.md", "- b:\n  ~~~\n  c\n  ~~~\n")
        failed, output = check({"a.md": "```text\na\n```\n~~~~ sh\n```\n~~~\n~~~~\n"
                                        "```cpp declarations\nint a;\n```\n"})
        self.assertFalse(failed, output)

    def test_pages_say_what_can_go_wrong(self):
        block = "```sh\nls\n```\n"
        for section, names in {
                "## What can go wrong": ("docs/tutorials/a.md", "docs/how_to/a.md",
                                         "docs/debugging/a.md", "docs/explanation/a.md"),
                "## Pitfalls": ("docs/moving/a.md",)}.items():
            for name in names:
                self.reports(f"no section '{section}'", name, block)
                self.reports("no example", name, f"{section}\n")
                self.assertFalse(check({name: f"{section}\n{block}"})[0])
        for name in ("docs/debugging/README.md", "docs/moving/index.md", "docs/a.md"):
            self.assertFalse(check({name: "# A\n"})[0])

    def test_retired_words_in_names(self):
        self.reports("'tally' is retired", "sync/src/a.cpp", SPDX + "int take_tally();\n")
        self.reports("'verdict' is retired", "comm/src/a.cpp", SPDX + "struct TheVerdict;\n")
        self.reports("'guest' is retired", "tests/a.cpp", SPDX + "TEST(A, AGuestEnds) {}\n")
        self.reports("'watch_hello' is retired", "tests/a.cpp", SPDX + "int watch_hello;\n")

    def test_retired_words_in_text(self):
        self.reports("'loop level' is retired", "scheduler/src/a.cpp", SPDX + "// at loop level\n")
        self.reports("'signs of life' is retired", "docs/a.md", "no signs of life\n")
        self.reports("'strangers' is retired", "launch/tools/a.py",
                     "# SPDX-License-Identifier: Apache-2.0\n\"\"\"Strangers.\"\"\"\n")
        self.reports("'tickets' is retired", "tests/CMakeLists.txt", "# tickets\n")
        self.reports("'doors' is retired", "docker/cluster",
                     "# SPDX-License-Identifier: Apache-2.0\n# doors\n")

    def test_retired_words_broken_at_the_end_of_a_line(self):
        self.reports("a.hpp:3: 'poll guard' is", "scheduler/src/a.hpp",
                     SPDX + "#pragma once\n// Arms the poll\n// guard.\n")
        self.reports("a.cpp:2: 'last words' is", "comm/src/a.cpp", SPDX + "// last\n// words\n")

    def test_retired_words_where_they_hold_only(self):
        self.reports("'units' is retired", "sync/src/a.cpp", SPDX + "int units;\n")
        failed, output = check({"apps/a.cpp": SPDX + "int units;  // rolled\n"})
        self.assertFalse(failed, output)

    def test_allowed_words(self):
        failed, output = check({
            "sync/README.md": "unit tests, tests/unit, time units\n",
            "apps/imsuite/a.cpp": SPDX + "int tally;\n",
            "docs/a.md": "[a](tickets.txt) settlement, allocate, seating\n",
            "docs/tickets.txt": "", "CHANGELOG.md": "gifts\n", "docs/style.md": "gifts\n"})
        self.assertFalse(failed, output)

    def test_bare_relatives(self):
        for text in ("// Who holds one waits.", "// for who sees it", "// of who\n// takes it",
                     "// to whom gets it", "TEST(A, LetsInWhoIsExpected) {}"):
            with self.subTest(text=text):
                self.reports("has no noun", "sync/src/a.cpp", SPDX + text + "\n")
        failed, output = check({
            "sync/src/a.cpp": SPDX + "// The user who is asked.\n// the user of the host,\n"
                              "// who has an answer; int who; those\n// who wait\n"})
        self.assertFalse(failed, output)


if __name__ == "__main__":
    unittest.main()
