// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <apgas/base/own_threads.hpp>

#include "implementation.hpp"

// Polling, sleeping and waking. The protocol is described in idle.hpp.
namespace apgas::inline v0::scheduler {
namespace {

constexpr auto no_limit = std::chrono::nanoseconds::max();

// A descriptor may wake the poller again and again although polls find nothing, or may never become
// armed. (UCX over TCP does this while a connection to another place is being accepted.) The first
// polls of such a series follow each other at once. Then a pause precedes each poll, and grows to
// 640 us, because on shared cores the other place needs this core to go on.
constexpr unsigned polls_at_once = 64;
constexpr std::chrono::nanoseconds least_pause = std::chrono::microseconds{20};

std::chrono::nanoseconds pause_after(unsigned polls) noexcept {
  if (polls < polls_at_once) return std::chrono::nanoseconds{0};
  return least_pause * (1U << std::min(polls / polls_at_once - 1, 5U));
}

// If the workers together poll at most this often between two waits of the fallback poller, they
// are busy with tasks that do not return to the scheduling loop. A worker that has left such a task
// for a message polls a few times before it goes on with it. On shared cores a worker that searches
// polls rarely, too: it yields its core after each poll. To arm the network for it would cost a
// system call and the wake-up of a thread for each message.
constexpr std::uint64_t rare_polls = 64;

// The fallback poller pauses for a millisecond after so many polls that brought no task although
// the descriptor was readable or could not be armed. To be woken for each message of a finish to
// which the workers send tasks would cost more than these tasks.
constexpr unsigned futile_polls_max = 2;

// For so long a thread does not poll if a look at the place waits until none does. A look tries to
// begin once in a millisecond.
constexpr std::chrono::milliseconds during_a_look{3};

// The number of external tasks that go first after prefer_external_tasks().
constexpr int preferred_at_once = 16;

// A worker that computes leaves its resumed tasks waiting for at least so long, and for twice that
// at most, if it spawns meanwhile: long for a worker that comes to its loop by itself, also where
// it gets a part of a core or is single-stepped, and short for a person.
constexpr std::chrono::milliseconds between_looks_for_resumed{100};

// The next push or pop of the worker, the owner of the deque, leads it to its scheduling loop.
void lead_to_loop(worker& w) noexcept {
  w.tasks.raise_attention();
  w.tasks.refuse_pop();
}

}  // namespace

void scheduler::implementation::wake_one() noexcept {
  if (idle_entry* entry = idle.take_sleeper()) entry->sleep.unpark();
}

bool scheduler::implementation::poll_network(unsigned looks) noexcept {
  if (settings.events == nullptr || !poller_lock.try_lock()) return false;
  if (arrived.load(base::relaxed)) arrived.store(false, base::relaxed);  // all workers read it
  polls.store(polls.load(base::relaxed) + 1, base::relaxed);
  const bool any = settings.events->poll(looks);
  // There may be more: a poll need not take everything that has arrived.
  if (any) arrived.store(true, base::relaxed);
  poller_lock.unlock();
  return any;
}

[[gnu::noinline]] bool scheduler::implementation::fire_timers() noexcept {
  return timed.fire([this](external_task* work) {
    if (observer.get() != nullptr) work->cause.value = 0;
    outside.push(work);
    notify();
  });
}

bool scheduler::implementation::poll_outside(worker& w, poll_kind kind) noexcept {
  const bool any = timed.any() && fire_timers();
  ++w.count.polls;
  // Tasks of other places must not go before the worker's own each time.
  const bool free_worker = w.tasks.empty() && !has_resumed(w);
  w.polls_in_loop = kind == poll_kind::search || (kind == poll_kind::loop && free_worker);
  std::uint64_t begun = 0;
  if (w.observer.get() != nullptr) [[unlikely]] {
    begun = base::cycles();
    w.polls_in_loop = false;  // only submit() sets the cause of an external task
  }
  const bool messages = poll_network(kind == poll_kind::search ? idle_looks() : 0);
  w.polls_in_loop = false;
  if (messages) observe_activity(w, worker_activity::poll, begun);
  return any || messages;
}

parker::wake scheduler::implementation::wait_for_busy_workers(parker& sleep) noexcept {
  using namespace std::chrono_literals;
  const std::uint64_t now = polls.load(base::relaxed);
  const bool few = now - std::exchange(polls_before, now) <= rare_polls;
  const bool rarely = few && !(oversubscribed.load(base::relaxed) && idle.anyone_searches());
  const int descriptor = settings.events->descriptor();
  const bool stopped = halted.load(base::acquire);  // P1 of halt.cpp
  if (stopped || !rarely || descriptor < 0 || futile_polls > futile_polls_max) {
    futile_polls = 0;
    return sleep.park(1ms) ? parker::wake::unparked : parker::wake::timed_out;
  }
  if (!settings.events->arm()) return parker::wake::readable;
  return sleep.park_on(descriptor, 1ms);  // what waits to be sent must not wait longer
}

bool scheduler::implementation::poll_for_busy_workers(bool readable) noexcept {
  const auto time = std::chrono::steady_clock::now();
  if (cores.is_due(time)) look_at_cores(time);
  const std::uint64_t now = polls.load(base::relaxed);
  if (readable) ++futile_polls;
  bool any = false;
  if ((readable || now == polls_seen) && poller_lock.try_lock()) {
    any = settings.events->poll(0);
    poller_lock.unlock();
    if (any) {  // there may be more, and a worker may have slept because this thread was polling
      arrived.store(true, base::relaxed);
      notify();
    }
  }
  polls_seen = now;
  if (!outside.empty()) {
    if (any) futile_polls = 0;
    prefer_external_tasks();
  }
  prefer_resumed_tasks(time);
  return settings.events->pending() || !idle.has_poller();
}

void scheduler::implementation::prefer_external_tasks() noexcept {
  preferred_external_tasks.store(preferred_at_once, base::relaxed);
  for (const auto& w : workers) lead_to_loop(*w);
}

void scheduler::implementation::prefer_resumed_tasks(
    std::chrono::steady_clock::time_point now) noexcept {
  if (now < resumed_look_at) return;
  resumed_look_at = now + between_looks_for_resumed;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    worker& w = *workers[i];
    const std::uint64_t choices = w.choices;
    if (std::exchange(choices_seen[i], choices) != choices || !has_resumed(w)) continue;
    // Without it a spawn goes on. The loop lowers it even if there is no external task.
    if (preferred_external_tasks.load(base::relaxed) == 0) {
      preferred_external_tasks.store(1, base::relaxed);
    }
    lead_to_loop(w);
  }
}

bool scheduler::implementation::anything_to_do() const noexcept {
  if (!outside.empty() || arrived.load(base::relaxed) || stopping.load(base::relaxed)) return true;
  return std::ranges::any_of(workers,
                             [](const auto& w) { return !w->tasks.empty() || has_resumed(*w); });
}

namespace {

// Adds without a read-modify-write, since only the worker itself writes.
void add(base::atomic<std::int64_t>& counter, std::int64_t more) noexcept {
  counter.store(counter.load(base::relaxed) + more, base::relaxed);
}

}  // namespace

bool scheduler::implementation::sleep(worker& w) noexcept {
  idle_entry& entry = **entries[static_cast<std::size_t>(w.id)];
  const bool is_poller = idle.announce_sleep(&entry);
  for (const auto& other : workers) other->tasks.raise_attention();
  if (fenced) {
    base::full_fence();
  } else {
    base::heavy_fence();  // P1 of idle.hpp
    ++w.count.sleep_fences;
  }
  if (anything_to_do()) {
    if (idle.cancel_sleep(&entry)) return false;
    // Another thread has taken this worker off the list and will unpark it.
    static_cast<void>(entry.sleep.park(std::chrono::nanoseconds::max()));
    return true;
  }
  ++w.count.sleeps;
  const std::uint64_t observed_from = observe_begin(w, worker_activity::sleep);
  const auto begun = std::chrono::steady_clock::now();
  add(w.count.asleep_ns, -begun.time_since_epoch().count());
  bool woken = false;
  for (unsigned idle_polls = 0; !woken; ++idle_polls) {
    const auto limit = is_poller ? timed.until_next() : no_limit;
    const bool on_network = is_poller && !progress.joinable();
    woken = on_network ? sleep_as_poller(entry.sleep, idle_polls, limit) : entry.sleep.park(limit);
    if (!woken && look_waits.load(base::relaxed)) woken = entry.sleep.park(during_a_look);
    if (woken || !poll_outside(w, poll_kind::loop)) continue;
    idle_polls = 0;
    // A message need not become a task: it may have been answered already, and more messages may
    // follow the answer. Searching finds them sooner than sleeping.
    if (idle.cancel_sleep(&entry)) break;
  }
  add(w.count.asleep_ns, std::chrono::steady_clock::now().time_since_epoch().count());
  if (woken) ++w.count.wakeups;
  observe_activity(w, worker_activity::sleep, observed_from);
  if (is_poller && fallback != nullptr) fallback->arm();
  return woken;
}

// If there is a descriptor, only the polls that it caused count in `idle_polls`, not those after a
// time-out.
bool scheduler::implementation::sleep_as_poller(parker& sleep, unsigned& idle_polls,
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
  const base::own_thread counts;
  for (unsigned idle_polls = 0; !stopping.load(base::acquire);  // P1 of scheduler.cpp
       ++idle_polls) {
    if (halted.load(base::acquire)) return;  // P1 of halt.cpp
    static_cast<void>(sleep_as_poller(progress_sleep, idle_polls, no_limit));
    if (look_waits.load(base::relaxed)) static_cast<void>(progress_sleep.park(during_a_look));
    if (!poll_network()) continue;
    idle_polls = 0;
    if (!outside.empty()) prefer_external_tasks();
  }
}

bool has_other_work(const worker& w) noexcept {
  const auto& s = w.home->internals();
  return w.arrivals.noted() || !w.tasks.empty() || has_resumed(w) || !s.outside.empty() ||
         s.preferred_external_tasks.load(base::relaxed) != 0 || s.stopping.load(base::relaxed);
}

bool poll_in_place() noexcept {
  worker& w = *current_fiber()->on;
  auto& s = w.home->internals();
  const bool waits = s.waits_in_place.load(base::relaxed);
  if (!waits || s.settings.events == nullptr || has_other_work(w)) return false;
  if (s.timed.any() && s.fire_timers()) return true;
  ++w.count.polls;
  static_cast<void>(s.poll_network(s.idle_looks()));  // of a run without an observer
  return true;
}

}  // namespace apgas::inline v0::scheduler
