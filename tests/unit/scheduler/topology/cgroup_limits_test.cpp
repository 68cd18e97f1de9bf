// SPDX-License-Identifier: Apache-2.0

// The CPU limits of cgroups, read from files that look like those of the kernel.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_limits.hpp"

namespace {

namespace fs = std::filesystem;
using apgas::base::cpu_limit;
using apgas::scheduler::cgroup_limits;
using testing::ElementsAre;
using testing::IsEmpty;

class CgroupLimits : public testing::Test {
 protected:
  CgroupLimits() { fs::create_directories(root_ / "proc/self"); }
  ~CgroupLimits() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void member_of(const std::string& lines) const { write("proc/self/cgroup", lines); }

  cpu_limit of(const std::string& folder, std::uint32_t millicores) const {
    struct stat found = {};
    EXPECT_EQ(stat((root_ / "sys/fs/cgroup" / folder).c_str(), &found), 0);
    return {.cgroup = found.st_ino, .millicores = millicores};
  }

  std::vector<cpu_limit> limits() const { return cgroup_limits(root_.string()); }

 private:
  const fs::path root_ =
      fs::path(testing::TempDir()) / ("cgroup_limits_test." + std::to_string(getpid()));
};

TEST_F(CgroupLimits, NoCgroups) { EXPECT_THAT(limits(), IsEmpty()); }

TEST_F(CgroupLimits, Version2WithoutALimit) {
  member_of("0::/user.slice\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  EXPECT_THAT(limits(), IsEmpty());
}

TEST_F(CgroupLimits, Version2) {
  member_of("0::/pod/container\n");
  write("sys/fs/cgroup/pod/container/cpu.max", "250000 100000\n");
  EXPECT_THAT(limits(), ElementsAre(of("pod/container", 2500)));
}

TEST_F(CgroupLimits, TheSmallestComesFirst) {
  member_of("0::/pod/container/task\n");
  write("sys/fs/cgroup/pod/cpu.max", "200000 100000\n");
  write("sys/fs/cgroup/pod/container/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/pod/container/task/cpu.max", "50000 100000\n");
  EXPECT_THAT(limits(), ElementsAre(of("pod/container/task", 500), of("pod", 2000),
                                    of("pod/container", 3000)));
}

TEST_F(CgroupLimits, InAContainerThatIsItsOwnRoot) {
  member_of("0::/\n");
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_THAT(limits(), ElementsAre(of("", 1500)));
}

TEST_F(CgroupLimits, Version1) {
  member_of("9:cpuset:/other\n4:cpu,cpuacct:/job/step\n0::/\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/job/step/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu/job/step/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/other/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(limits(), ElementsAre(of("cpu/job/step", 4000)));
}

TEST_F(CgroupLimits, Version1InAContainerThatIsMountedAsTheRoot) {
  member_of("4:cpu:/docker/cafe\n");  // a path of the host
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
  EXPECT_THAT(limits(), ElementsAre(of("cpu", 2000)));
}

TEST_F(CgroupLimits, AnUnknownTextIsNoLimit) {
  member_of("nonsense\n0::/a\n");
  for (const char* text : {"", "100000", "100000 0", "x 100000", "-5 100000"}) {
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_THAT(limits(), IsEmpty()) << text;
  }
}

TEST(CgroupLimitsOfThisProcess, AreReadable) {
  for (const cpu_limit& each : cgroup_limits()) {
    EXPECT_NE(each.cgroup, 0U);
    EXPECT_GT(each.millicores, 0U);
  }
}

}  // namespace
