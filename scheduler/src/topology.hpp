// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <apgas/scheduler/cores.hpp>

struct hwloc_topology;

// How the processors of this host are arranged, and the binding of threads. The only user of hwloc.
namespace apgas::inline v0::scheduler {

// The processors of a topology in the order of the hardware.
std::vector<logical_processor> processors_in(hwloc_topology* topology);

// How near processors are to each other.
class nearness {
 public:
  explicit nearness(const std::vector<int>& processors);

  // The depth of what two of them share (core, L2, L3, NUMA domain, machine): larger is nearer.
  // `a` and `b` are positions in `processors`.
  int between(std::size_t a, std::size_t b) const { return depths_[a * count_ + b]; }

 private:
  std::size_t count_;
  std::vector<int> depths_;
};

// Binds the calling thread to one processor. Failure is no error: the thread stays unbound.
void bind_thread(int processor) noexcept;

}  // namespace apgas::inline v0::scheduler
