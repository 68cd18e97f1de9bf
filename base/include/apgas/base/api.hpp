// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks what libapgas exports. The shared library is compiled with hidden visibility: a program can
// link to the functions, classes and variables that carry this mark and to nothing else. They are
// the public API and those internal functions which templates and inline functions of the headers
// call. tests/package/exported_symbols.txt lists them, and a test compares.
#define APGAS_API [[gnu::visibility("default")]]
