// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// The cores this process may use, and how near they are to each other. The only user of hwloc.
namespace apgas::inline v0::scheduler {

class topology {
 public:
  topology();

  // Logical processors in the affinity mask, in the order of the hardware.
  const std::vector<int>& processors() const noexcept { return processors_; }
  // Shared levels above two processors (core, L2, L3, NUMA, machine): larger is nearer.
  int nearness(int processor_a, int processor_b) const;
  std::string description() const { return description_; }

 private:
  std::vector<int> processors_;
  std::vector<std::vector<int>> nearness_;
  std::string description_;
};

// Whole cores granted by cgroup v1 or v2, at least 1; 0 when there is no quota.
int cgroup_quota_cores();

// Binds the calling thread to one processor. Failure is no error: the thread stays unbound.
void bind_thread(int processor) noexcept;

}  // namespace apgas::inline v0::scheduler
