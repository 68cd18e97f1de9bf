// SPDX-License-Identifier: Apache-2.0

// In a build without MPI, asking for its transport is an error that says so.

#include <string>

#include <gtest/gtest.h>

#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

namespace {

using namespace apgas::comm;

TEST(no_mpi, the_error_says_what_to_do) {
  EXPECT_FALSE(mpi_available());
  EXPECT_FALSE(mpi_running());
  try {
    make_mpi_transport();
    FAIL();
  } catch (const apgas::launch_error& e) {
    EXPECT_NE(std::string(e.what()).find("built without MPI"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("APGAS_TRANSPORT=local"), std::string::npos) << e.what();
  }
}

}  // namespace
