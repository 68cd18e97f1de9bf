// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <apgas/base/atomic.hpp>
#include <apgas/sync/future_group.hpp>

// Calls all_ready() when the last of several futures is ready.
//
//   missing_   written by the threads that set the futures, and by start()
//
// Pairs
//   P1  The thread that counts missing_ down to zero sees all futures ready and start() complete.
namespace apgas::inline v0::sync {

class future_countdown {
 public:
  future_countdown(const future_countdown&) = delete;
  future_countdown& operator=(const future_countdown&) = delete;
  virtual ~future_countdown() = default;

  // Waits for the futures of `awaited`. all_ready() is called when all of them are ready, which may
  // be during this call. Requires: there are as many as the constructor was told.
  // Context: any thread, once.
  void start(awaited_futures awaited) noexcept {
    std::size_t ready = 1;  // the count of start() itself, which keeps this object alive meanwhile
    for (std::size_t i = 0; i < awaited.size(); ++i) {
      if (!awaited[i]->enlist(links_[i])) ++ready;
    }
    count_down(ready);
  }

 protected:
  explicit future_countdown(std::size_t futures)
      : missing_(futures + 1), links_(std::make_unique<link[]>(futures)) {
    for (std::size_t i = 0; i < futures; ++i) {
      links_[i].all = this;
      links_[i].on_ready = [](future_waiter& w) noexcept {
        static_cast<link&>(w).all->count_down(1);
      };
    }
  }

 private:
  struct link : future_waiter {
    future_countdown* all = nullptr;
  };

  // Called once; it must destroy this object. Context: any thread; must not run user code.
  virtual void all_ready() noexcept = 0;

  void count_down(std::size_t n) noexcept {
    if (missing_.fetch_sub(n, base::acq_rel) == n) all_ready();  // P1
  }

  base::atomic<std::size_t> missing_;
  std::unique_ptr<link[]> links_;
};

}  // namespace apgas::inline v0::sync
