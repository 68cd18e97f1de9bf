// SPDX-License-Identifier: Apache-2.0
// The main function of the tests in this folder. GoogleTest runs in the main task of an apgas
// program, so every TEST is a task of place 0 under the root finish. GoogleTest assertions count
// only there: a check at another place must throw or return something (check.hpp).
#include <gtest/gtest.h>

#include <apgas/apgas.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return apgas::run(argc, argv, [] { return RUN_ALL_TESTS(); });
}
