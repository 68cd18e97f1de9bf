// SPDX-License-Identifier: Apache-2.0
// run without the arguments of the program.
#include <apgas/apgas.hpp>

int main(int argc, char** argv) {
#ifdef APGAS_TEST_CONTROL
  return apgas::run(argc, argv, [] {});
#else
  return apgas::run([] { static_cast<void>(0); });
#endif
}
