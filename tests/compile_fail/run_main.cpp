// SPDX-License-Identifier: Apache-2.0
// A main function with parameters of its own.
#include <apgas/apgas.hpp>

int main(int argc, char** argv) {
#ifdef APGAS_TEST_CONTROL
  return apgas::run(argc, argv, [](int, char**) {});
#else
  return apgas::run(argc, argv, [](int, const char*) {});
#endif
}
