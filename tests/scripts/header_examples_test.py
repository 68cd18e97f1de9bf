#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/docs/header_examples.py finds the examples of a header, and errors have its lines.

  header_examples_test.py COMPILER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import header_examples  # noqa: E402

COMPILER = "c++"


class HeaderExamples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.header = pathlib.Path(folder.name, "room.hpp")

    def examples(self, text):
        self.header.write_text(text)
        return list(header_examples.examples_of(self.header))

    def compile(self, code):
        return subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"],
                              input=code, capture_output=True, text=True, check=False).stderr

    def test_examples_and_tables(self):
        first, second = self.examples("""// A room.
//
//   enter();
//
//   leave();
//
//   gate    the way in
//   window  the way out
//
//   - the first item; it is no example
class room {
  // Opens it.
  //
  //   if (closed) {
  //     open();
  //   }
  void open();
};
""")
        self.assertEqual((first.line, first.rows), (3, ["enter();", "", "leave();"]))
        self.assertEqual((second.line, second.rows), (14, ["if (closed) {", "  open();", "}"]))

    def test_a_semicolon_in_a_comment_or_a_string_makes_no_example(self):
        self.assertEqual(self.examples("// A room.\n//\n//   open  // now;\n//   say \"no;\"\n"),
                         [])

    def test_definitions_and_statements(self):
        example, = self.examples("""//   struct size {
//     int length = 7;
//   };
//   template <class T>
//   T twice(T x) {
//     return x + x;
//   }
//
//   size s;
//   if (s.length != 7) {
//     s.length = twice(s.length);
//   }
""")
        definitions, statements = example.chunks()
        self.assertEqual([line for line, _ in definitions], [1, 4])
        self.assertEqual([line for line, _ in statements], [8])
        self.assertEqual(self.compile(example.cpp()), "")

    def test_an_error_has_the_line_of_the_header(self):
        for text in ("//   int x = 1;\n//   unknown(x);\n",
                     "//   int main(int argc, char** argv) {\n//     return no;\n//   }\n"):
            example, = self.examples(text)
            self.assertIn(f"{self.header}:2:", self.compile(example.cpp()))

    def test_comments_of_examples_are_no_code(self):
        example, = self.examples("//   run(1);  // walk(2);\n")
        self.assertEqual(header_examples.code_of(self.header), "run(1);  \n")
        self.assertFalse(example.is_program())


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else COMPILER
    unittest.main()
