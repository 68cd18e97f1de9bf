// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "implementation.hpp"

// Looking outside, sleeping and waking (idle.hpp has the protocol).
namespace apgas::inline v0::scheduler {
namespace {

constexpr auto no_limit = std::chrono::nanoseconds::max();

// Where a descriptor cannot be armed because something came that a poll does not see, or wakes
// again and again for nothing (UCX over TCP does while it waits for a place to let it in): so many
// polls one after the other, and then apart, ever more. On shared cores that place waits for this
// one.
constexpr unsigned polls_at_once = 64;
constexpr std::chrono::nanoseconds least_pause = std::chrono::microseconds{20};

std::chrono::nanoseconds pause_after(unsigned polls) noexcept {
  if (polls < polls_at_once) return std::chrono::nanoseconds{0};
  return least_pause * (1U << std::min(polls / polls_at_once - 1, 5U));
}

// Tasks from outside that go first then.
constexpr int turns_at_once = 16;

}  // namespace

void scheduler::implementation::wake_one() noexcept {
  if (idle_seat* seat = idle.take_sleeper()) seat->sleep.unpark();
}

bool scheduler::implementation::poll_network() noexcept {
  if (settings.events == nullptr || !network_seat.try_lock()) return false;
  arrived.store(false, base::relaxed);
  polls.store(polls.load(base::relaxed) + 1, base::relaxed);
  const bool any = settings.events->poll();
  // It may have taken only some of what is there.
  if (any) arrived.store(true, base::relaxed);
  network_seat.unlock();
  return any;
}

bool scheduler::implementation::poll_outside(worker& w) noexcept {
  bool any = timed.fire([this](injected* work) {
    outside.push(work);
    notify();
  });
  ++w.count.polls;
  const auto begun = time_for(w.trace);
  const bool messages = poll_network();
  if (messages && w.trace != nullptr) w.trace->add("network", begun);
  return any || messages;
}

bool scheduler::implementation::poll_for_busy_workers() noexcept {
  const std::uint64_t now = polls.load(base::relaxed);
  if (now == polls_seen && network_seat.try_lock()) {
    const bool any = settings.events->poll();
    network_seat.unlock();
    if (any) {  // the rest is for a worker, which may have found the seat taken and sleep by now
      arrived.store(true, base::relaxed);
      notify();
    }
  }
  polls_seen = now;
  if (!outside.empty()) want_turn();
  return settings.events->pending() || !idle.watched();
}

void scheduler::implementation::want_turn() noexcept {
  turns_wanted.store(turns_at_once, base::relaxed);
  for (const auto& w : workers) {
    w->tasks.raise_attention();
    w->tasks.refuse_pop();
  }
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
  const auto begun = time_for(w.trace);
  for (unsigned idle_polls = 0;; ++idle_polls) {
    const auto limit = watching ? timed.until_next() : no_limit;
    const bool on_network = watching && !progress.joinable();
    if (on_network ? watch(seat.sleep, idle_polls, limit) : seat.sleep.park(limit)) break;
    if (!poll_outside(w)) continue;
    idle_polls = 0;
    // What comes need not be a task: it may have been answered by now, and more follow the answer.
    if (idle.cancel_sleep(&seat)) break;
  }
  if (w.trace != nullptr) w.trace->add("sleep", begun);
  if (watching && guard != nullptr) guard->arm();
}

// `idle_polls`: polls without effect so far; those that only a time-out led to do not count where
// there is a descriptor.
bool scheduler::implementation::watch(parker& sleep, unsigned& idle_polls,
                                      std::chrono::nanoseconds limit) noexcept {
  external_events* const events = settings.events;
  if (events == nullptr) return sleep.park(limit);
  const auto most = std::min(limit, events->max_sleep(idle_polls));
  const int descriptor = events->descriptor();
  if (descriptor < 0) return sleep.park(most);
  const auto pause = pause_after(idle_polls);
  if (pause > std::chrono::nanoseconds{0} && sleep.park(std::min(pause, most))) return true;
  if (!events->arm()) return sleep.park(std::chrono::nanoseconds{0});
  const parker::wake why = sleep.park_on(descriptor, most);
  if (why == parker::wake::timed_out) idle_polls = 0;
  return why == parker::wake::unparked;
}

void scheduler::implementation::serve_network() noexcept {
  for (unsigned idle_polls = 0; !stopping.load(base::acquire); ++idle_polls) {  // P1
    if (halted.load(base::acquire)) return;                                     // P1 of halt.cpp
    static_cast<void>(watch(progress_sleep, idle_polls, no_limit));
    if (!poll_network()) continue;
    idle_polls = 0;
    if (!outside.empty()) want_turn();
  }
}

}  // namespace apgas::inline v0::scheduler
