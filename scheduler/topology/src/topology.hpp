// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <apgas/scheduler/cores.hpp>

struct hwloc_topology;

// Reads the topology of this host, and binds threads. This is the only code that uses hwloc.
namespace apgas::inline v0::scheduler {

// Returns the processors of a topology in the order of the hardware.
std::vector<logical_processor> processors_in(hwloc_topology* topology);

// How near processors are to each other.
class nearness {
 public:
  explicit nearness(const std::vector<int>& processors);

  // Returns the number of hardware levels that two processors share (core, L2, L3, NUMA domain,
  // host); a larger number means nearer. `a` and `b` are positions in `processors`.
  int between(std::size_t a, std::size_t b) const { return depths_[a * count_ + b]; }

 private:
  std::size_t count_;
  std::vector<int> depths_;
};

// Binds the calling thread to one processor. If that fails, the thread stays unbound.
void bind_thread(int processor) noexcept;

}  // namespace apgas::inline v0::scheduler
