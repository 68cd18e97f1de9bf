// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <sys/types.h>

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
  // The same in this topology of a host. Null: nothing is known, and all are equally near.
  nearness(const std::vector<int>& processors, hwloc_topology* host);

  // Returns the number of hardware levels that two processors share (core, L2, L3, NUMA domain,
  // host); a larger number means nearer. `a` and `b` are positions in `processors`.
  int between(std::size_t a, std::size_t b) const { return depths_[a * count_ + b]; }

 private:
  std::size_t count_;
  std::vector<int> depths_;
};

// Returns the processors that a thread of this process may run on now, in ascending order; 0 means
// the calling thread. Those that are off line are not among them. Never empty.
// Throws: std::bad_alloc.
std::vector<int> processors_of_thread(pid_t thread);

// Returns whether the memory of this host is divided into several NUMA domains.
bool has_numa_domains();

// While it lives, the calling thread runs on one processor only, so that the memory which it
// touches first is near that processor. If the system refuses that, the thread runs where it may.
// Throws: std::bad_alloc.
class stay_on {
 public:
  explicit stay_on(int processor);
  stay_on(const stay_on&) = delete;
  stay_on& operator=(const stay_on&) = delete;
  ~stay_on();

 private:
  std::vector<int> before_;
};

// Binds the calling thread to one processor. If that fails, the thread stays unbound.
void bind_thread(int processor) noexcept;

}  // namespace apgas::inline v0::scheduler
