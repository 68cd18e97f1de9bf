// SPDX-License-Identifier: Apache-2.0
#pragma once

// main as a task, in a program that is linked with -Wl,--wrap=main: the start of the program then
// calls __wrap_main, and __real_main is the program's main. The parallel loops of main cost what
// those of a task do. Otherwise each of them wakes a worker, whose end wakes the thread of main,
// which takes some 50 us together.

#include <cstdio>

#include "apgas_parlay_runtime.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): names of the linker

// Weak, so that a program links without the option as well.
extern "C" [[gnu::weak]] int __real_main(int argc, char** argv, char** environment);

// A main that declares fewer parameters does not read the others.
extern "C" [[gnu::used]] inline int __wrap_main(int argc, char** argv, char** environment) {
  if (__real_main == nullptr) {  // the linker takes it out of no archive
    std::fputs(
        "apgas: the main of this program is in a static library; link it without -Wl,--wrap=main\n",
        stderr);
    return 2;
  }
  int code = 0;
  apgas_parlay::in_task([&] { code = __real_main(argc, argv, environment); });
  return code;
}

// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
