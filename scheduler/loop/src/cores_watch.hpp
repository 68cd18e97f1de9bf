// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include <apgas/base/atomic.hpp>

// Notices that the cores of the workers change while they run: somebody shrinks the cpuset of a
// batch job, or takes a core off line. The kernel moves the threads; the scheduler says so once,
// and finds out whether the workers share cores from then on.
//
// No thread exists for this. A worker that searches, and the fallback poller while all workers are
// busy, ask now and then whether a look is due.
namespace apgas::inline v0::scheduler {

class cores_watch {
 public:
  using time = std::chrono::steady_clock::time_point;

  // Whether look() should be called. Context: any thread.
  bool is_due(time now) const noexcept {
    return now.time_since_epoch().count() >= next_.load(base::relaxed);
  }

  // Compares `cores`, on which the workers may run now, in ascending order, with those of the last
  // look, and determines the time of the next look.
  struct change {
    bool any = false;
    bool first = false;            // the first change that this object has seen
    std::vector<int> before = {};  // the cores at the last look
  };
  // Throws: std::bad_alloc. Context: one thread at a time.
  change look(time now, const std::vector<int>& cores);

  // Held by the thread that looks.
  std::mutex looking;

 private:
  static constexpr std::chrono::milliseconds between_looks{250};

  base::atomic<std::chrono::steady_clock::rep> next_{0};
  std::vector<int> cores_;
  bool changed_ = false;
};

}  // namespace apgas::inline v0::scheduler
