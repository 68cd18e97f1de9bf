// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

// Small programs that hang on purpose, or that are slow but do not hang. hang_test.py runs them and
// looks for the lines that the comments `// marks <word>` mark.
namespace apgas::test {

struct hang_case {
  std::string_view name;
  void (*run)();
  void (*before)() = nullptr;  // called before apgas::run
};

std::vector<hang_case> cycles();   // tasks that wait for each other
std::vector<hang_case> missing();  // tasks that wait for something that nobody does
std::vector<hang_case> alive();    // programs that end
std::vector<hang_case> beside();   // tasks that wait for each other, or seem to, while others run

// Three of these, which the programs over several places run at another place.
void timed_wait();
void blocking_call();
void thread_of_the_program();

// The same over several places.
std::vector<hang_case> over_places();
std::vector<hang_case> alive_over_places();
std::vector<hang_case> beside_places();

}  // namespace apgas::test
