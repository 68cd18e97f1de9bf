// SPDX-License-Identifier: Apache-2.0
// The main of the tests of this folder: GoogleTest runs as the main task of an apgas program, so
// every TEST is a task of place 0 under the root finish. A check at another place must throw or
// return something, since GoogleTest there counts for nothing (see check.hpp).
#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return apgas::run(argc, argv, [] { return RUN_ALL_TESTS(); });
}
