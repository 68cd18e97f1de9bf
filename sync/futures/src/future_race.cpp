// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <apgas/base/atomic.hpp>
#include <apgas/sync/future_group.hpp>

// when_any: the first of several futures to be ready wins the race. Then the entries in the lists
// of the other futures are withdrawn, so that a loop of when_any over a slow future leaves nothing
// behind in it.
//
//   won_     written by the threads that set the futures
//   phase_   written once by the winner and once by start()
//   uses_    written by all of them
//
// Pairs
//   P1  The later of the winner and start() sees that all links have been enlisted that ever will
//       be, and that the index is written. It withdraws the links that are left.
//   P2  The thread that drops the last use sees that no other thread uses the race any more.
namespace apgas::inline v0::sync {
namespace {

class future_race {
 public:
  future_race(ref<future_core> result, std::size_t& index, awaited_futures awaited)
      : result_(std::move(result)),
        index_(index),
        count_(awaited.size()),
        links_(std::make_unique<link[]>(awaited.size())) {
    for (std::size_t i = 0; i < count_; ++i) {
      links_[i].race = this;
      links_[i].future = awaited[i];
      links_[i].on_ready = [](future_waiter& w) noexcept {
        auto& l = static_cast<link&>(w);
        l.race->finished(l);
        l.race->drop(1);
      };
    }
  }

  // Enters the race in the lists of the futures. The race destroys itself at its end. Context:
  // once.
  void start() noexcept {
    for (std::size_t i = 0; i < count_ && !won_.load(base::relaxed); ++i) {
      uses_.fetch_add(1, base::relaxed);
      if (links_[i].future->enlist(links_[i])) continue;
      finished(links_[i]);
      drop(1);
    }
    end_phase();
    drop(1);
  }

 private:
  struct link : future_waiter {
    future_race* race = nullptr;
    future_core* future = nullptr;
  };

  void finished(const link& which) noexcept {
    if (won_.exchange(true, base::relaxed)) return;
    index_ = static_cast<std::size_t>(&which - links_.get());
    result_->publish_value();
    end_phase();
  }

  void end_phase() noexcept {
    if (phase_.fetch_add(1, base::acq_rel) == 0) return;  // P1
    std::size_t withdrawn = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (links_[i].future->withdraw(links_[i])) ++withdrawn;
    }
    if (withdrawn != 0) drop(withdrawn);
  }

  void drop(std::size_t n) noexcept {
    if (uses_.fetch_sub(n, base::acq_rel) == n) delete this;  // P2
  }

  ref<future_core> result_;  // its value keeps the awaited futures alive
  std::size_t& index_;
  std::size_t count_;
  std::unique_ptr<link[]> links_;
  base::atomic<bool> won_{false};
  base::atomic<int> phase_{0};
  base::atomic<std::size_t> uses_{1};
};

}  // namespace

void publish_when_any(ref<future_core> result, std::size_t& index, awaited_futures awaited) {
  if (awaited.empty()) {
    result->publish_value();
    return;
  }
  auto race = std::make_unique<future_race>(std::move(result), index, awaited);
  race.release()->start();
}

}  // namespace apgas::inline v0::sync
