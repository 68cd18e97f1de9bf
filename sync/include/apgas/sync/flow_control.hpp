// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/rank.hpp>
#include <apgas/scheduler/worker.hpp>

// How far a place may send tasks ahead of another one that starts them slowly: the receiver reports
// how many bytes of tasks it has started, and a sender that is a window ahead waits, letting other
// tasks of its place run. So a flood needs bounded memory at both ends.
//
//                 written by                    read by
//   sent          senders (+)                   senders
//   started       the handler of reports        senders
//   begun         tasks that start (+)          tasks that start
//   reported      tasks that start (CAS)        tasks that start
//   waiting       senders, reports (under lock)
//
// Totals only grow, so reports may come in any order: the largest holds. A sender that finds the
// window full under the lock is in the list before the next report takes it.
namespace apgas::inline v0::sync {

class flow_control {
 public:
  static constexpr std::uint64_t window_bytes = std::uint64_t{8} << 20;  // to each place

  explicit flow_control(int places) : peers_(static_cast<std::size_t>(places)) {}

  // Suspends the caller until a task may be sent to `dest`. Context: task.
  void wait_for_room(comm::rank dest) noexcept {
    while (full(dest)) {
      scheduler::suspend([&p = at(dest), this, dest](scheduler::fiber* self) {
        p.lock.lock();
        const bool waits = full(dest);
        if (waits) {
          self->next = p.waiting;
          p.waiting = self;
        }
        p.lock.unlock();
        if (!waits) scheduler::resume(self);
      });
    }
  }
  // Whether a task for `dest` must wait. Context: any thread.
  bool full(comm::rank dest) const noexcept {
    const peer& p = at(dest);
    return p.sent.load(base::relaxed) - p.started.load(base::relaxed) > window_bytes;
  }
  void on_send(comm::rank dest, std::size_t bytes) noexcept {
    at(dest).sent.fetch_add(bytes, base::relaxed);
  }

  // A task from `source` starts here. The total to report to it now, if it is time.
  std::optional<std::uint64_t> on_start(comm::rank source, std::size_t bytes) noexcept {
    peer& p = at(source);
    const std::uint64_t total = p.begun.fetch_add(bytes, base::relaxed) + bytes;
    std::uint64_t last = p.reported.load(base::relaxed);
    if (total - last < window_bytes / 8 || total < last) return std::nullopt;
    if (!p.reported.compare_exchange_strong(last, total, base::relaxed, base::relaxed)) {
      return std::nullopt;  // another task reports
    }
    return total;
  }
  // Such a report came. Context: handler.
  void on_report(comm::rank source, std::uint64_t total) noexcept {
    peer& p = at(source);
    if (total > p.started.load(base::relaxed)) p.started.store(total, base::relaxed);
    p.lock.lock();
    scheduler::fiber* waiter = std::exchange(p.waiting, nullptr);
    p.lock.unlock();
    while (waiter != nullptr) scheduler::resume(std::exchange(waiter, waiter->next));
  }

 private:
  struct peer {
    base::atomic<std::uint64_t> sent{0};
    base::atomic<std::uint64_t> started{0};
    base::atomic<std::uint64_t> begun{0};
    base::atomic<std::uint64_t> reported{0};
    base::spin_lock lock;
    scheduler::fiber* waiting = nullptr;
  };

  peer& at(comm::rank r) noexcept { return *peers_[static_cast<std::size_t>(r)]; }
  const peer& at(comm::rank r) const noexcept { return *peers_[static_cast<std::size_t>(r)]; }

  std::vector<base::cache_aligned<peer>> peers_;
};

}  // namespace apgas::inline v0::sync
