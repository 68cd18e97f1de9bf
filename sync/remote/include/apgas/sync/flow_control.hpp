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

// Limits how much a place may send to a place that starts its tasks slowly. The receiver reports
// how many bytes of tasks it has started. A sender suspends while it has sent more than a window
// that was not reported as started, and its worker runs other tasks. So the memory that a flood of
// tasks needs is bounded at both ends.
//
// A task that came from another place may send a limited number of bytes without waiting (an
// answer), because a task that waits keeps a stack. The volume of answers is bounded at the place
// that asks: while more than a window of tasks has come to it that it has not started, it sends
// nothing but answers.
//
// All fields below are totals of bytes, but for the lists of waiting tasks.
//
//                 written by                     read by
//   sent          senders (+)                    senders
//   added         the endpoint, see added_to()   senders
//   started       the handler of reports         senders
//   begun         tasks that start (+)           tasks that start
//   reported      tasks that start (CAS)         tasks that start
//   waiting       senders and the handler of reports, under the lock
//   arrived       the handler of tasks           senders
//   here.begun    tasks that start (+)           senders
//   here.waiting  senders and tasks that start, under the lock; also read without it
//
// Totals only grow, so reports may arrive in any order: the largest one is valid. A sender that
// finds the window full checks again under the lock and is in the list before the next report
// empties it.
//
// P1: a sender writes here.waiting and then reads here.begun; a task that starts does the
// opposite. All four accesses are sequentially consistent, so one of the two sees the other.
namespace apgas::inline v0::sync {

class flow_control {
 public:
  // The number of bytes that a task from another place may send without waiting.
  static constexpr std::uint32_t answer_bytes = 4096;

  // A call whose payload has at most this many bytes is not counted. Its caller waits with a stack
  // that takes more memory than the frame.
  static constexpr std::size_t unlimited_bytes = 512;

  // `window_bytes` is the window to each place.
  flow_control(int places, std::uint64_t window_bytes)
      : window_(window_bytes), peers_(static_cast<std::size_t>(places)) {}

  // Suspends the caller until a task may be sent to `dest`. Context: task. May resume on another
  // worker.
  void wait_for_room(comm::rank dest, const scheduler::call_site& where) noexcept {
    while (full(dest)) {
      scheduler::suspend({"async_at, until its place has started earlier tasks,", nullptr, where},
                         [&p = at(dest), this, dest](scheduler::fiber* self) {
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
  // Suspends the caller until this place is no longer behind(). Context: task. May resume on
  // another worker.
  void wait_until_caught_up(const scheduler::call_site& where) noexcept {
    while (behind()) {
      scheduler::suspend(
          {"async_at, until tasks that came to this place have started,", nullptr, where},
          [this](scheduler::fiber* self) {
            here_->lock.lock();
            self->next = here_->waiting.load(base::relaxed);
            here_->waiting.store(self, base::seq_cst);  // P1
            const bool waits = behind();
            if (!waits) here_->waiting.store(self->next, base::relaxed);
            here_->lock.unlock();
            if (!waits) scheduler::resume(self);
          });
    }
  }
  // Returns whether a task for `dest` must wait. Context: any thread.
  bool full(comm::rank dest) const noexcept {
    const peer& p = at(dest);
    const std::uint64_t sent = p.sent.load(base::relaxed) + p.added.load(base::relaxed);
    return sent - p.started.load(base::relaxed) > window_;
  }
  // Returns whether more than a window has arrived from all places that was not started. Context:
  // any thread.
  bool behind() const noexcept {
    const std::uint64_t begun = here_->begun.load(base::seq_cst);  // P1; first, so never too large
    const std::uint64_t arrived = arrived_.load(base::relaxed);
    return arrived > begun + window_;
  }
  // Counts a task that is sent. Context: task.
  void on_send(comm::rank dest, std::size_t bytes) noexcept {
    at(dest).sent.fetch_add(bytes, base::relaxed);
  }

  // The total of the bytes that endpoint::add_task() has added to frames to `dest`. Only that
  // function changes it.
  base::atomic<std::uint64_t>& added_to(comm::rank dest) noexcept { return at(dest).added; }

  // Counts tasks that arrived. Context: handler.
  void on_arrival(std::size_t bytes) noexcept {
    arrived_.store(arrived_.load(base::relaxed) + bytes, base::relaxed);
  }
  // Counts a task from `source` that starts here, and resumes the senders that waited for that.
  // Returns the total if it is time to report it. Context: the task that starts.
  std::optional<std::uint64_t> on_start(comm::rank source, std::size_t bytes) noexcept {
    here_->begun.fetch_add(bytes, base::seq_cst);                          // P1
    const bool any_waits = here_->waiting.load(base::seq_cst) != nullptr;  // P1
    if (any_waits && !behind()) [[unlikely]]
      resume_waiting_here();
    peer& p = at(source);
    const std::uint64_t total = p.begun.fetch_add(bytes, base::relaxed) + bytes;
    std::uint64_t last = p.reported.load(base::relaxed);
    if (total - last < window_ / 8 || total < last) return std::nullopt;
    if (!p.reported.compare_exchange_strong(last, total, base::relaxed, base::relaxed)) {
      return std::nullopt;  // another task reports
    }
    return total;
  }
  // Takes in such a report, and resumes the senders that wait for that place. Context: handler.
  void on_report(comm::rank source, std::uint64_t total) noexcept {
    peer& p = at(source);
    if (total > p.started.load(base::relaxed)) p.started.store(total, base::relaxed);
    p.lock.lock();
    scheduler::fiber* waiter = std::exchange(p.waiting, nullptr);
    p.lock.unlock();
    resume_all(waiter);
  }

 private:
  static void resume_all(scheduler::fiber* waiter) noexcept {
    while (waiter != nullptr) scheduler::resume(std::exchange(waiter, waiter->next));
  }
  [[gnu::noinline]] void resume_waiting_here() noexcept {
    here_->lock.lock();
    scheduler::fiber* const waiter = here_->waiting.load(base::relaxed);
    here_->waiting.store(nullptr, base::relaxed);
    here_->lock.unlock();
    resume_all(waiter);
  }

  struct peer {
    base::atomic<std::uint64_t> sent{0};
    base::atomic<std::uint64_t> added{0};
    base::atomic<std::uint64_t> started{0};
    base::atomic<std::uint64_t> begun{0};
    base::atomic<std::uint64_t> reported{0};
    base::spin_lock lock;
    scheduler::fiber* waiting = nullptr;
  };

  struct own {
    base::atomic<std::uint64_t> begun{0};
    base::atomic<scheduler::fiber*> waiting{nullptr};
    base::spin_lock lock;
  };

  peer& at(comm::rank r) noexcept { return *peers_[static_cast<std::size_t>(r)]; }
  const peer& at(comm::rank r) const noexcept { return *peers_[static_cast<std::size_t>(r)]; }

  const std::uint64_t window_;
  base::atomic<std::uint64_t> arrived_{0};
  base::cache_aligned<own> here_;
  std::vector<base::cache_aligned<peer>> peers_;
};

}  // namespace apgas::inline v0::sync
