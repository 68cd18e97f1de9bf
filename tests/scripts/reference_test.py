#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/docs/reference.py finds each part that the comment of a public name lacks."""

import itertools
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
FIRST = "Returns the index of the element after element x."
DECLARATION = "int increment(int x)"
COMPLETE = f"""
// {FIRST}
//
//   const int next = increment(1);
//
// Throws: overflow.
// Context: any thread.
// Cost: 1 ns.
{DECLARATION};
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

    def problems(self, text, head="", space="apgas::inline v0"):
        before, after = (f"namespace {space} {{", "}") if space else ("", "")
        self.header.write_text(f"#pragma once\n\n{head}{before}\n{text}\n{after}\n")
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

    def lacks(self, *parts):
        return [f"increment its comment does not say: {', '.join(parts)}"]

    def test_each_part_of_the_contract(self):
        for part in ("Throws", "Context", "Cost"):
            text = "\n".join(row for row in COMPLETE.splitlines() if part not in row)
            self.assertEqual(self.problems(text), self.lacks(part))
        text = COMPLETE.replace("Throws: overflow.", "What element x throws goes to the caller.")
        self.assertEqual(self.problems(text), self.lacks("Throws"))

    def test_whether_it_may_suspend(self):
        text = COMPLETE.replace("any thread", "task")
        self.assertEqual(self.problems(text), self.lacks("whether it may suspend"))
        self.assertEqual(self.problems(text.replace("task.", "task. May suspend.")), [])

    def test_each_parameter(self):
        text = COMPLETE.replace("(int x)", "(int x, map<a, b> y = {})")
        self.assertEqual(self.problems(text), self.lacks("`y`"))
        # A name that occurs only in the example is not explained.
        self.assertEqual(self.problems(text.replace("(1)", "(1, y)")), self.lacks("`y`"))

    def check(self, lack, declarations, sentences):
        """Checks COMPLETE with each of these sentences instead of its first one and each of these
        declarations: the comment lacks the part `lack`, or nothing if that is empty."""
        cases = list(itertools.product(declarations, sentences))
        text = "".join(COMPLETE.replace(FIRST, sentence).replace(DECLARATION, declaration)
                       .replace("increment", f"increment{i}")
                       for i, (declaration, sentence) in enumerate(cases))
        self.assertEqual(self.problems(text),
                         [f"increment{i} its comment does not say: {lack}"
                          for i in range(len(cases)) if lack], dict(enumerate(cases)))

    def test_the_result(self):
        unsaid = ("Moves to the element after element x.",
                  "The index of the element after element x.",  # a function that may do more
                  "A move to element x gives this value, number or result.",
                  "Moves to element x, and returns.",
                  "Moves to element x, and returns when it is there.",
                  "Moves to element x, and returns nothing.",
                  "Calls f for element x and uses what f returns.",
                  "Calls f for element x; a value that it returns is ignored.",
                  "Moves to element x. Throws: overflow; it returns the index then.")
        self.check("Returns", [DECLARATION], unsaid)
        self.check("", ["void increment(int x)"], unsaid)
        self.check("", [DECLARATION], (
            "Moves to element x and returns its index.",
            "Moves to element x. It returns the index.",
            "Moves to element x, and increment() returns its index.", "Whether it is element x."))

    def test_a_noun_phrase_names_the_result_of_a_function_that_only_looks(self):
        declarations = ("place increment()", "place increment() noexcept")
        self.check("", declarations, ("The place that has the object.",
                                      "Its place, where it began."))
        self.check("Returns", declarations, (
            "The place has the object.", "All is done at this place.", "Place of the object.",
            "Finds the place of the object.", "The place that has the object. May suspend."))

    def test_a_result_of_type_bool(self):
        declarations = ["bool increment(int x)"]
        self.check("when the result is true", declarations, ["Returns what is known of element x."])
        self.check("", declarations, ("Returns whether element x is there.",
                                      "Returns false for element x."))

    def test_the_unit_of_a_result(self):
        declarations = [f"{kind} increment(const text& x)"
                        for kind in ("int", "std::size_t", "double", "std::int64_t")]
        self.check("unit of the result", declarations, ["Returns how large x is."])
        self.check("", declarations, ("Returns the size of x in bytes.",
                                      "Returns how many members x has."))

    def test_the_unit_of_a_parameter(self):
        declarations = [f"void increment({kind} x = 0)" for kind in (
            "int", "std::size_t", "std::ptrdiff_t", "double", "const long", "unsigned")]
        self.check("unit of `x`", declarations, (
            "Goes on by x.", "Waits for at most x.", "Skips elements, up to x."))
        self.check("", declarations, (
            "Skips x elements.", "Makes `x` more elements.", "Waits x seconds.",
            "Starts place `x`.", "Clears element (x, y).",
            "`x`, from 1 to 8, is the number of rows."))
        own = ("bytes", "result_bytes", "seconds", "place", "argc")
        declarations = [f"void increment(int {each})" for each in own]
        self.check("", declarations, [f"Needs {', '.join(own)}."])
        sentences = ["Goes on by x."]
        self.check("", ("void increment(std::chrono::milliseconds x)", "void increment(text x)",
                        "template <class N>\nvoid increment(N x)"), sentences)
        self.check("unit of `x`", ["template <class T, std::integral N>\nvoid increment(N x)"],
                   sentences)

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

    def test_a_reference_means_the_comment_of_that_name(self):
        between = "\n// Nothing.\nusing between = int;\n"
        text = COMPLETE + between + ("\n// Returns the index of element x.\n"
                                     "// Throws: as {}.\n// Context: any thread.\n"
                                     "int increment(long x);")
        self.assertEqual(self.problems(text.format("decrement")), self.lacks("Cost"))
        decrement = "\n// Cost: 1 ns.\n//\n//   decrement();\n//\n" \
                    "// Throws nothing. Context: any thread.\nvoid decrement();"
        self.assertEqual(self.problems(text.format("decrement") + decrement), [])
        self.assertEqual(self.problems(text.format("before") + decrement), self.lacks("Cost"))
        self.assertEqual(self.problems(text.format("std::decrement") + decrement),
                         self.lacks("Cost"))

    def test_a_reference_to_a_header(self):
        other = self.header.with_name("other.hpp")
        text = "\n".join(row for row in COMPLETE.splitlines() if "Throws" not in row).replace(
            "Context: any thread.", "Context: as all numbers (other.hpp).")
        self.assertEqual(self.problems(text), self.lacks("Throws", "whether it may suspend"))
        other.write_text("#pragma once\n\n// Numbers.\n// Throws: overflow.\n"
                         "// Context: task. Suspends.\n\nnamespace apgas::inline v0 {}\n")
        self.assertEqual(self.problems(text), [])

    def test_a_class_refers_to_the_words_of_another_one(self):
        text = """
// A box.
//
//   box first;
//   first.fill(1), bag().fill(1);
//
// Throws of all: overflow. Context of all: {}. Cost: 1 ns.
struct box {{
  // Adds n elements.
  void fill(int n);
}};

// A bag. Throws, Context and Cost are as for box.
struct bag {{
  // Adds n elements.
  void fill(int n);
}};
"""
        self.assertEqual(self.problems(text.format("any thread")), [])
        self.assertEqual(self.problems(text.format("task")),
                         [f"{name}::fill its comment does not say: whether it may suspend"
                          for name in ("box", "bag")])

    def test_the_head_holds_for_all(self):
        contract = "// Throws of all: overflow. Context: any thread.\n// Cost: 1 ns.\n"
        head = "// Numbers.\n" + EXAMPLE + contract
        self.assertEqual(self.problems("\n// Skips x elements.\nvoid increment(int x);", head), [])

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
  // The number itself. Throws nothing.
  int get() const;
  // Changes it to the number x.
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
        self.assertEqual(self.problems(text.format(" Does not suspend.")), [])
        self.assertEqual(self.problems(text.format(" May suspend.")),
                         ["rest its comment does not say: Cost"])

    def test_what_allocates_needs_its_cost(self):
        text = """
// A box.
//
//   box b(1);
//   b.open();
//
// Context: any thread.
class box {{
 public:
  // Makes a box of `size` elements. Throws: {0}
  explicit box(int size);
  // Opens it. Throws: {0}
  void open();
}};
"""
        self.assertEqual(self.problems(text.format("overflow.")), [])
        self.assertEqual(self.problems(text.format("std::bad_alloc.")),
                         ["box::box its comment does not say: Cost",
                          "box::open its comment does not say: Cost"])
        self.assertEqual(self.problems(text.format("std::bad_alloc. Cost: 1 ns.")), [])

    def test_results_in_c(self):
        self.header = self.root / "base/include/apgas/c.h"
        self.header.parent.mkdir(parents=True)
        head = ("// Calls.\n//\n//   apgas_go();\n//   apgas_text();\n//\n// {}\n"
                "// Errors of all: EINVAL. Context: any thread. Cost: 1 ns.\n\n")
        text = ("\n// Goes on.\nint apgas_go(void);\n\n"
                "// {} text.\nconst char* apgas_text(void);\n")
        lack = "its comment does not say: Returns"
        codes = head.format("Functions that return int return 0 or a code.")
        self.assertEqual(self.problems(text.format("Returns the"), codes, ""), [])
        self.assertEqual(self.problems(text.format("Makes a"), codes, ""), [f"apgas_text {lack}"])
        self.assertEqual(self.problems(text.format("Returns the"), head.format(""), ""),
                         [f"apgas_go {lack}"])

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
