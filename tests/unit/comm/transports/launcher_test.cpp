// SPDX-License-Identifier: Apache-2.0

// The launcher of this process is recognised by environment variables.

#include <cstdlib>
#include <initializer_list>
#include <utility>

#include <gtest/gtest.h>

#include <apgas/comm/transports.hpp>

namespace {

using namespace apgas::comm;

class launcher : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
          "PMIX_NAMESPACE", "SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS",
          "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}) {
      unsetenv(name);
    }
  }
  static void set(std::initializer_list<std::pair<const char*, const char*>> variables) {
    for (const auto& [name, value] : variables) setenv(name, value, 1);
  }
};

TEST_F(launcher, no_launcher) { EXPECT_FALSE(launched_by_mpi()); }

TEST_F(launcher, open_mpi) {
  set({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}});
  ASSERT_TRUE(launched_by_mpi());
  EXPECT_EQ(find_launcher()->launcher, "Open MPI");
  EXPECT_EQ(find_launcher()->size, 4);
}

TEST_F(launcher, pmi) {
  set({{"PMI_RANK", "0"}, {"PMI_SIZE", "nonsense"}});
  ASSERT_TRUE(launched_by_mpi());
  EXPECT_EQ(find_launcher()->size, 0);
}

TEST_F(launcher, a_slurm_batch_script_is_not_a_job_step) {
  set({{"SLURM_PROCID", "0"}});
  EXPECT_FALSE(launched_by_mpi());
  set({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}});
  ASSERT_TRUE(launched_by_mpi());
  EXPECT_EQ(find_launcher()->size, 8);
}

TEST_F(launcher, asking_does_not_start_mpi) {
  launched_by_mpi();
  EXPECT_FALSE(mpi_running());
}

}  // namespace
