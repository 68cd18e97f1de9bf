// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "implementation.hpp"

// Looking outside, sleeping and waking (idle.hpp has the protocol).
namespace apgas::inline v0::scheduler {
namespace {

constexpr auto no_limit = std::chrono::nanoseconds::max();

// Where a descriptor cannot be armed because something came that a poll does not see: so many polls
// one after the other, and then a little apart.
constexpr unsigned polls_at_once = 64;
constexpr std::chrono::nanoseconds refusal_pause = std::chrono::microseconds{20};

}  // namespace

void scheduler::implementation::wake_one() noexcept {
  if (idle_seat* seat = idle.take_sleeper()) seat->sleep.unpark();
}

bool scheduler::implementation::poll_outside(worker& w) noexcept {
  bool any = timed.fire([this](injected* work) {
    outside.push(work);
    notify();
  });
  if (settings.events != nullptr && network_seat.try_lock()) {
    arrived.store(false, base::relaxed);
    ++w.count.polls;
    polls.store(polls.load(base::relaxed) + 1, base::relaxed);
    any |= settings.events->poll();
    network_seat.unlock();
  }
  return any;
}

bool scheduler::implementation::poll_for_busy_workers() noexcept {
  const std::uint64_t now = polls.load(base::relaxed);
  if (now == polls_seen && network_seat.try_lock()) {
    settings.events->poll();
    network_seat.unlock();
  }
  polls_seen = now;
  return settings.events->pending();
}

bool scheduler::implementation::anything_to_do() const noexcept {
  if (!outside.empty() || arrived.load(base::relaxed) || stopping.load(base::relaxed)) return true;
  return std::ranges::any_of(workers,
                             [](const auto& w) { return !w->tasks.empty() || has_resumed(*w); });
}

void scheduler::implementation::sleep(worker& w) noexcept {
  idle_seat& seat = **seats[static_cast<std::size_t>(w.id)];
  const bool watching = idle.announce_sleep(&seat);
  for (const auto& other : workers) other->tasks.raise_attention();
  if (fenced) {
    base::full_fence();
  } else {
    base::heavy_fence();  // P1 of idle.hpp
  }
  if (anything_to_do()) {
    if (idle.cancel_sleep(&seat)) return;
    static_cast<void>(seat.sleep.park(std::chrono::nanoseconds::max()));  // its waker is on the way
    return;
  }
  ++w.count.sleeps;
  for (unsigned idle_polls = 0; !(watching ? watch(seat, idle_polls) : seat.sleep.park(no_limit));
       ++idle_polls) {
    if (poll_outside(w)) idle_polls = 0;
  }
}

// Sleeps until something may have come from outside, at most. True: woken.
bool scheduler::implementation::watch(idle_seat& seat, unsigned idle_polls) noexcept {
  const auto limit = timed.until_next();
  external_events* const events = settings.events;
  if (events == nullptr) return seat.sleep.park(limit);
  const auto most = std::min(limit, events->max_sleep(idle_polls));
  const int descriptor = events->descriptor();
  if (descriptor < 0) return seat.sleep.park(most);
  if (events->arm()) return seat.sleep.park_on(descriptor, most);
  return seat.sleep.park(idle_polls < polls_at_once ? std::chrono::nanoseconds{0} : refusal_pause);
}

}  // namespace apgas::inline v0::scheduler
