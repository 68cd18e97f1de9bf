#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/docs/reference.py finds each part that the comment of a public name lacks."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import reference  # noqa: E402
from reference import public_names  # noqa: E402

EXAMPLE = """//
//   const int next = increment(1);
//
"""
COMPLETE = """
// Returns x + 1.
//
//   const int next = increment(1);
//
// Throws: overflow.
// Context: any thread.
// Cost: 1 ns.
int increment(int x);
"""


class Reference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.header = self.root / "sync/room/include/apgas/room.hpp"
        self.header.parent.mkdir(parents=True)
        for name, value in (("ROOT", self.root), ("FURTHER", ())):
            self.addCleanup(setattr, public_names, name, getattr(public_names, name))
            setattr(public_names, name, value)

    def problems(self, text, head=""):
        self.header.write_text(f"#pragma once\n\n{head}namespace apgas::inline v0 {{\n{text}\n"
                               "}  // namespace apgas::inline v0\n")
        names, sources = public_names.collect()
        self.names = {name.name: name for name in names}
        found = reference.problems(names, sources)
        return [f"{name.name} {message}" for name, message in found]

    def test_a_complete_comment(self):
        self.assertEqual(self.problems(COMPLETE), [])
        self.assertEqual(self.names["increment"].declaration, "int increment(int x)")

    def test_a_function_without_comment(self):
        self.assertEqual(self.problems("\nint increment(int x);"),
                         ["increment has no comment", "increment no example uses it"])

    def test_each_part_of_the_contract(self):
        for part in ("Throws", "Context", "Cost"):
            text = "\n".join(row for row in COMPLETE.splitlines() if part not in row)
            self.assertEqual(self.problems(text), [f"increment its comment does not say: {part}"])

    def test_each_parameter(self):
        self.assertEqual(self.problems(COMPLETE.replace("(int x)", "(int x, map<a, b> y = {})")),
                         ["increment its comment does not say: `y`"])

    def test_the_result(self):
        text = COMPLETE.replace("Returns x + 1", "Adds one to x")
        self.assertEqual(self.problems(text), ["increment its comment does not say: Returns"])
        self.assertEqual(self.problems(text.replace("int increment", "void increment")), [])

    def test_a_function_that_is_noexcept_throws_nothing(self):
        self.assertEqual(self.problems(COMPLETE.replace("// Throws: overflow.\n", "")
                                       .replace("(int x)", "(int x) noexcept")), [])

    def test_an_example(self):
        for text in (COMPLETE.replace(EXAMPLE, ""), COMPLETE.replace("increment(1)", "next(1)"),
                     COMPLETE.replace("int next = ", "// int next = ")):
            self.assertEqual(self.problems(text), ["increment no example uses it"])

    def test_an_example_is_code(self):
        text = COMPLETE.replace("const int next = increment(1);", "increment(1)   one more than 1")
        self.assertEqual(self.problems(text), ["increment no example uses it"])

    def test_the_comment_above_holds_for_the_next_declaration(self):
        self.assertEqual(self.problems(COMPLETE + "int increment(long x);"), [])
        self.assertEqual(self.problems(COMPLETE + "\nint increment(long x);"),
                         ["increment has no comment"])

    def test_the_same_refers_to_the_comment_before(self):
        second = "\n// {}.\nint increment(long x);"
        self.assertEqual(self.problems(COMPLETE + second.format("The same for long")), [])
        self.assertEqual(len(self.problems(COMPLETE + second.format("For long"))), 1)

    def test_the_head_holds_for_all(self):
        contract = "// Throws of all: overflow. Context: any thread.\n// Cost: 1 ns.\n"
        head = "// Numbers.\n" + EXAMPLE + contract
        self.assertEqual(self.problems("\n// The successor of x.\nint increment(int x);", head), [])

    def test_members(self):
        text = """
// A number.
//
//   number one;
//   if (one.get() == 1) *one;
//
// Context: any thread.
class number {
 public:
  // The value. Throws nothing.
  int get() const;
  // Changes it to x.
  void set(int x) { x_ = x; }
  void lost(int x);

  void forgotten();

  // Returns the value. Throws nothing.
  int operator*() const;
  int operator-() const;
  bool operator==(const number&) const = default;

  // As an integer. Throws nothing.
  explicit operator int() const;

 private:
  void secret();
  int x_;
};
"""
        self.assertEqual(self.problems(text), [
            "number::set its comment does not say: Cost, Throws",
            "number::lost its comment does not say: Cost, Throws",
            "number::forgotten has no comment",
            *(f"number::{name} no example uses it"
              for name in ("set", "lost", "forgotten", "operator-"))])

    def test_a_function_that_waits_needs_its_cost(self):
        text = ("\n// Waits.\n//\n//   rest();\n//\n// Throws nothing. Context: task.{}\n"
                "void rest();")
        self.assertEqual(self.problems(text.format("")), [])
        self.assertEqual(self.problems(text.format(" May suspend.")),
                         ["rest its comment does not say: Cost"])

    def test_macros(self):
        self.header = self.root / "base/include/apgas/version.hpp"
        self.header.parent.mkdir(parents=True)
        self.assertEqual(self.problems("""
// Two parts.
#define APGAS_VERSION_MAJOR 0
#define APGAS_VERSION_MINOR 1

#define APGAS_VERSION \\
  1

#define APGAS_OTHER 2
"""), ["APGAS_VERSION has no comment"])
        self.assertEqual(self.names["APGAS_VERSION"].declaration, "#define APGAS_VERSION 1")
        self.assertTrue(self.names["APGAS_VERSION_MINOR"].shared)

    def test_what_is_not_public(self):
        self.assertEqual(self.problems("""
// For the implementation: no matter.
int increment(int x);

// A wrong call. It does not compile.
int decrement(int x);

namespace sync {
int other(int x);
}
"""), [])


if __name__ == "__main__":
    unittest.main()
