// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>

#include "turns.hpp"

// The monitor of a seeded schedule: a thread that keeps the program going. It notices a deadlock,
// and takes the turn away from a thread that keeps it while others are ready.
namespace apgas::inline v0::scheduler {
namespace {

using namespace std::chrono_literals;

constexpr auto monitor_pause = 50ms;

// A participant that blocks in the kernel may wait for another one, for example for a std::mutex.
// A call of `blocking` is meant to block, so it gets more time.
constexpr auto patience_with_blocked = 500ms;
constexpr auto patience_with_call = 2s;
// One that computes may be busy-waiting for another one.
constexpr auto patience_with_busy = 10s;

// A deadlock is certain if so many looks in a row find it: a thread that begins or ends may be
// missing in the list of the system.
constexpr int stuck_looks = 3;
constexpr auto between_deadlock_looks = 10ms;

bool blocks(pid_t thread) {
  if (thread == 0) return false;
  std::ifstream file(fmt::format("/proc/self/task/{}/stat", thread));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');  // the state is the field after the name
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'S';
}

}  // namespace

void turns::monitor() {
  const base::own_thread counts;
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  std::uint64_t reported = ~std::uint64_t{0};
  time since = clock::now();
  time awake = since;  // when the thread that has the turn was last seen not to block
  while (!stopping_) {
    monitor_wake_.wait_for(lock, monitor_pause);
    if (!begun_ || ended() || stopping_) continue;
    const time now = clock::now();
    if (turns_taken_ != seen) {
      seen = turns_taken_;
      since = awake = now;
    }
    if (running_ == nullptr) {
      if (seen != reported && is_deadlock(lock)) {
        reported = seen;
        report_deadlock(lock);
      }
      continue;
    }
    if (!blocks(running_->thread)) awake = now;
    const auto patience = running_->is_call ? patience_with_call : patience_with_blocked;
    if (now - since > patience_with_busy || now - awake > patience) {
      take_turn_away(lock, now - awake > patience);
    }
  }
}

// Lets the others go on, if any of them is ready.
void turns::take_turn_away(std::unique_lock<std::mutex>& lock, bool blocked) {
  if (std::ranges::none_of(everyone_, [this](const participant* p) { return is_ready(*p); }))
    return;
  running_->now = state::astray;
  running_ = nullptr;
  const bool first = deviation_ == nullptr;
  deviate(blocked ? "a task or a call blocked its thread while others could run"
                  : "a task ran for 10 s without a scheduling point while others could run");
  participant* const next = dispatch();
  lock.unlock();
  if (next != nullptr) next->turn.unpark();
  if (first) {
    base::warn(fmt::format(
        "{}, so APGAS_SEED={} may not reproduce this schedule: it lets one thread run at a time. "
        "Let tasks wait by the means of the library, see docs/debugging/schedules.md",
        deviation_, seed_));
  }
  lock.lock();
}

// Whether no thread can run again. Nobody has the turn. Releases the lock meanwhile.
bool turns::is_deadlock(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = turns_taken_;
  for (int look = 0; look < stuck_looks; ++look) {
    if (look != 0) monitor_wake_.wait_for(lock, between_deadlock_looks);
    if (running_ != nullptr || turns_taken_ != seen || ended() || stopping_) return false;
    if (std::ranges::any_of(everyone_,
                            [](const participant* p) { return p->now == state::astray; }))
      return false;
    monitor_looks_ = true;
    lock.unlock();
    const bool stuck = base::foreign_threads() == 0 &&
                       std::ranges::all_of(places_, [](place* p) { return p->is_stuck(); });
    lock.lock();
    monitor_looks_ = false;
    monitor_looked_.notify_all();
    if (!stuck) return false;
  }
  return running_ == nullptr && turns_taken_ == seen && !ended();
}

void turns::report_deadlock(std::unique_lock<std::mutex>& lock) {
  monitor_looks_ = true;
  lock.unlock();
  places_.front()->report_deadlock(places_);
  lock.lock();
  monitor_looks_ = false;
  monitor_looked_.notify_all();
}

}  // namespace apgas::inline v0::scheduler
