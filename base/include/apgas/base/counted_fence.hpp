// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/atomic.hpp>

// The heavy fence of atomic.hpp, for code that executes it now and then: it also counts how often.
// The statistics show the counts, since each such fence interrupts all running threads of the
// process. A worker, which executes many, counts its fences itself (scheduler/workers).
namespace apgas::inline v0::base {

class counted_fence {
 public:
  // Executes the heavy fence of atomic.hpp. Context: any thread. Cost: that of membarrier(), and a
  // read-modify-write.
  void heavy_fence() noexcept {
    count_.fetch_add(1, relaxed);
    base::heavy_fence();
  }

  // How many fences were executed so far. Context: any thread.
  std::uint64_t count() const noexcept { return count_.load(relaxed); }

 private:
  atomic<std::uint64_t> count_{0};
};

}  // namespace apgas::inline v0::base
