// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// The processors that this process may use, and how near they are to each other. This is the only
// code that uses hwloc.
namespace apgas::inline v0::scheduler {

class topology {
 public:
  topology();

  // Returns the logical processors of the affinity mask, in the order of their numbers.
  const std::vector<int>& processors() const noexcept { return processors_; }
  // Returns the number of hardware levels that two processors share (core, L2, L3, NUMA node,
  // host); a larger number means nearer.
  int nearness(int processor_a, int processor_b) const;
  std::string description() const { return description_; }

 private:
  std::vector<int> processors_;
  std::vector<std::vector<int>> nearness_;
  std::string description_;
};

// Returns the number of whole cores that the quota of cgroup v1 or v2 grants, at least 1; 0 if
// there is no quota.
int cgroup_quota_cores();

// Binds the calling thread to one processor. If that fails, the thread stays unbound.
void bind_thread(int processor) noexcept;

}  // namespace apgas::inline v0::scheduler
