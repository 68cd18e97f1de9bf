// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <apgas/base/atomic.hpp>
#include <apgas/sync/future_group.hpp>

// Does something when the last of several futures is ready.
//
//   missing_   written by who sets a future, and by start()
//
// Pairs
//   P1  All futures are ready, and start() is over, for who takes the last unit.
namespace apgas::inline v0::sync {

class future_countdown {
 public:
  future_countdown(const future_countdown&) = delete;
  future_countdown& operator=(const future_countdown&) = delete;
  virtual ~future_countdown() = default;

  // all_ready() is called when every one of `awaited` is, perhaps in here. Requires: as many as the
  // constructor was told. Context: any thread, once.
  void start(awaited_futures awaited) noexcept {
    std::size_t ready = 1;  // a unit of ours, so that it cannot end meanwhile
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

  // The end of this object. Context: any thread; must not run user code.
  virtual void all_ready() noexcept = 0;

  void count_down(std::size_t n) noexcept {
    if (missing_.fetch_sub(n, base::acq_rel) == n) all_ready();  // P1
  }

  base::atomic<std::size_t> missing_;
  std::unique_ptr<link[]> links_;
};

}  // namespace apgas::inline v0::sync
