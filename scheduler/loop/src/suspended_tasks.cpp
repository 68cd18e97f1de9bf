// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/membarrier.hpp>
#include <apgas/scheduler/stackless_task.hpp>

#include "stack_depth.hpp"
#include "stack_pool.hpp"
#include "suspended_tasks.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// These read what another thread may be writing, and find out afterwards whether it did. The
// sanitizers cannot know that.
#if defined(__clang__)
#define APGAS_READS_RACING [[clang::no_sanitize("thread", "address")]]
#else
#define APGAS_READS_RACING [[gnu::no_sanitize("thread"), gnu::no_sanitize("address")]]
#endif

template <class T>
APGAS_READS_RACING T racing_read(const T& from) noexcept {
  return *const_cast<const volatile T*>(&from);
}
// The fiber of a running task may be one that its worker has just made.
template <class T>
APGAS_READS_RACING T racing_read(const base::atomic<T>& from) noexcept {
  static_assert(sizeof(T) == sizeof(from));
  return *reinterpret_cast<const volatile T*>(&from);
}

// A record that was copied while tasks run. It may contain anything until the copy is checked.
struct copied_wait {
  const fiber* of;
  std::uint64_t generation;
  const wait_record* record;
  wait_record waits{nullptr};
  task_state task{};
  bool main = false;
  const void* stack_pointer = nullptr;
};

// Whether a task seems to wait for a phase in a batch, where it stores no record: it has
// registrations, its worker runs another fiber, and it is not a spawner whose tasks that fiber runs
// (drain.cpp).
APGAS_READS_RACING bool waits_in_batch(const fiber& f) noexcept {
  const worker* const w = f.on;
  if (w == nullptr || f.task.registrations == nullptr) return false;
  const fiber* const runs = w->running.load(base::relaxed);
  return runs != nullptr && runs != &f && runs->spawner != &f;
}

constexpr std::size_t copies_at_once = 1024;  // that are checked after one heavy fence

// Copies what the task on the fiber waits for; the construct is null if it does not wait. A stack
// stays mapped, so the copying itself is safe.
APGAS_READS_RACING copied_wait copy_wait(const fiber& f) noexcept {
  copied_wait c{.of = &f, .generation = f.generation, .record = nullptr};
  base::full_fence();                          // generation first: P1
  c.record = f.waits_for.load(base::acquire);  // P1
  if (c.record == nullptr) {
    c.waits.construct = waits_in_batch(f) ? "a phase of a clock or phaser" : nullptr;
    if (c.waits.construct == nullptr) return c;
  } else {
    c.waits.construct = racing_read(c.record->construct);
    c.waits.where = c.record->where;
  }
  c.stack_pointer = f.stack_pointer;
  c.task.site = f.task.site;
  c.task.name = racing_read(f.task.name);
  c.main = racing_read(f.runs_main);
  return c;
}

// Requires: a heavy fence since the copying (P2).
bool is_valid(const copied_wait& c) noexcept {
  const bool same = c.of->waits_for.load(base::acquire) == c.record;  // P1
  const bool suspended = c.record != nullptr || waits_in_batch(*c.of);
  return same && suspended && c.of->generation == c.generation;
}

// Copies the stack from its stack pointer up, without the record of the fiber.
APGAS_READS_RACING std::vector<std::byte> copy_stack(const copied_wait& c, std::size_t most) {
  const auto* const from = static_cast<const volatile std::byte*>(c.stack_pointer);
  const auto* const end = reinterpret_cast<const volatile std::byte*>(c.of);
  const auto* const bottom = static_cast<const volatile std::byte*>(c.of->stack_bottom);
  if (from < bottom || from >= end) return {};
  std::vector<std::byte> bytes(std::min(most, static_cast<std::size_t>(end - from)));
  std::byte* const to = bytes.data();
  for (std::size_t i = 0; i < bytes.size(); ++i) to[i] = from[i];
  return bytes;
}

// What a report says of a task that may go on meanwhile.
APGAS_READS_RACING task_state name_and_site_of(const stackless_task& t) noexcept {
  task_state s;
  s.site = t.state.site;
  s.name = racing_read(t.state.name);
  return s;
}

// The finish is compared with others, and nothing else.
APGAS_READS_RACING task_state owned_state_of(const stackless_task& t) noexcept {
  task_state s = name_and_site_of(t);
  s.finish = racing_read(t.state.finish);
  return s;
}

// Begins to fetch the record of a fiber. Each is on a page of its own, and a report of a million
// tasks spends most of its time waiting for these pages.
void prefetch(const fiber& f) noexcept {
  const auto* const record = reinterpret_cast<const std::byte*>(&f);
  for (std::size_t line = 0; line < sizeof(fiber); line += 64) __builtin_prefetch(record + line);
}

// In seconds of a clock that does not begin with 0.
std::uint32_t seconds_of(suspended_tasks::time t) noexcept {
  return static_cast<std::uint32_t>(
             std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count()) +
         1;
}

constexpr std::uint64_t stacks_of_a_group = 4;
constexpr std::size_t stacks_at_most = 256;

}  // namespace

APGAS_READS_RACING worker_state state_of(const worker& w) noexcept {
  worker_state s;
  s.on = w.running.load(base::relaxed);
  s.head = w.tasks.head();
  s.choices = w.choices;
  s.searches = w.searches.load(base::relaxed);
  if (s.on != nullptr) {
    const call_site site = s.on->task.site;
    s.site = std::bit_cast<const void*>(site);
    s.name = s.on->task.name;
    s.main = s.on->runs_main;
  }
  return s;
}

APGAS_READS_RACING bool suspended_tasks::owns(const fiber& f) const noexcept {
  const worker* const on = *const_cast<worker* const volatile*>(&f.on);
  return on != nullptr &&
         std::ranges::any_of(workers_, [on](const auto& w) { return w.get() == on; });
}

template <class F>
void suspended_tasks::for_each(F f) const {
  constexpr std::size_t steps = 8;
  const std::size_t made = stacks_made();
  for (std::size_t n = 0; n < made; ++n) {
    if (n + steps < made) prefetch(fiber_of_stack(n + steps));
    fiber& each = fiber_of_stack(n);
    if (!owns(each)) continue;
    static_cast<void>(each.waits_for.load(base::acquire));  // P3
    f(each);
  }
}

template <class Found>
void suspended_tasks::find_stackless(Found found) const {
  if (!workers_.empty()) stackless_task::for_each(workers_.front()->home, found);
}

// Returns for how long the looks up to now have seen this wait, and notes it.
double suspended_tasks::waited_s(const fiber& f, std::uint64_t generation, time now) noexcept {
  const std::size_t n = number_of_stack(f);
  if (n >= seen_.size()) return 0;
  seen_wait& seen = seen_[n];
  if (seen.since == time{} || seen.generation != generation) seen = {generation, now};
  return std::chrono::duration<double>(now - seen.since).count();
}

void suspended_tasks::observe() {
  constexpr int share = 50;  // the part of the time that this takes at most
  const std::lock_guard guard(lock_);
  const time now = std::chrono::steady_clock::now();
  if (now < observe_again_) return;
  const std::uint32_t now_s = seconds_of(now);
  find_stackless(
      [now_s](stackless_task& t, const char*, const call_site&) { t.seen_for_s(now_s); });
  seen_.resize(stacks_made());
  for_each([&](const fiber& f) { waited_s(f, f.generation, now); });
  const time end = std::chrono::steady_clock::now();
  observe_again_ = end + std::max<time::duration>(std::chrono::seconds(1), (end - now) * share);
}

// Requires: lock_; all workers sleep. A task that is held (P4) does not do: it has used its stack
// again before it finds out.
const char* suspended_tasks::caller_of(const fiber& f, const wait_record& waits) {
  return caller_names::lacks_line(waits.where) ? callers_.caller_of(f) : "";
}

void suspended_tasks::explain(wait_groups& groups, hang_explanation& explanation) {
  const std::lock_guard guard(lock_);
  callers_.begin_report();
  seen_.resize(stacks_made());
  const time now = std::chrono::steady_clock::now();
  for_each([&](fiber& f) {
    const wait_record waits = waits_for(f);
    if (waits.construct == nullptr || !owns(f)) return;  // P1
    const char* const caller = caller_of(f, waits);
    groups.add(waits, f.task, f.runs_main, waited_s(f, f.generation, now), caller);
    explanation.add(f, waits, caller);
  });
  const std::uint32_t now_s = seconds_of(now);
  find_stackless([&](stackless_task& t, const char*, const call_site&) {
    const wait_record waits = t.waits();
    groups.add(waits, t.state, false, t.seen_for_s(now_s));
    explanation.add(t, waits);
  });
}

namespace {

// Keeps suspended tasks from going on while it exists: P4. There is one at a time, so that none
// lets go on what another one holds.
class held_tasks {
 public:
  held_tasks(const std::vector<std::unique_ptr<worker>>& workers, base::counted_fence& fence)
      : alone_(one_at_a_time), workers_(workers) {
    for (const auto& w : workers_) w->holds_resumed.store(true, base::relaxed);
    fence.heavy_fence();  // P4
  }
  held_tasks(const held_tasks&) = delete;
  held_tasks& operator=(const held_tasks&) = delete;
  ~held_tasks() {
    for (const auto& w : workers_) w->holds_resumed.store(false, base::release);  // P4
  }

 private:
  static inline std::mutex one_at_a_time;
  std::lock_guard<std::mutex> alone_;
  const std::vector<std::unique_ptr<worker>>& workers_;
};

}  // namespace

// Requires: the tasks that wait are held and have been added.
APGAS_READS_RACING void suspended_tasks::add_running(hang_explanation& explanation) const {
  for (const auto& w : workers_) {
    const worker_state seen = state_of(*w);
    if (seen.searches || seen.on == nullptr) continue;
    auto& on = const_cast<fiber&>(*seen.on);
    if (racing_read(on.waits_for) != nullptr) continue;
    task_state task;
    task.finish = racing_read(on.task.finish);
    task.site = std::bit_cast<call_site>(seen.site);
    task.name = seen.name;
    const task_counter* const outermost = racing_read(on.outermost);
    base::full_fence();  // the second look comes after what it confirms
    const worker_state now = state_of(*w);
    if (now.searches || now.on != seen.on || now.site != seen.site || now.name != seen.name)
      continue;
    explanation.add_running(on, task, outermost, seen.main);
  }
}

// Whether, if the task on the fiber waits, it has waited since `begin`: each suspension changes the
// generation. With time::max() all do.
bool suspended_tasks::waits_since(const fiber& f, time begin) const noexcept {
  const std::size_t n = number_of_stack(f);
  if (begin == time::max()) return true;
  return n < seen_.size() && seen_[n].since != time{} && seen_[n].since <= begin &&
         seen_[n].generation == f.generation;
}

void suspended_tasks::explain_long_waits(time::duration patience, hang_explanation& explanation,
                                         place_waits& to) {
  const std::lock_guard guard(lock_);
  const time begin = patience == time::duration::zero()
                         ? time::max()
                         : std::chrono::steady_clock::now() - patience;
  std::vector<fiber*> waiting;
  for_each([&](fiber& f) {
    if (f.waits_for.load(base::relaxed) != nullptr && waits_since(f, begin)) waiting.push_back(&f);
  });
  const bool all = explanation.purpose() == graph_purpose::edges;
  if (waiting.empty() && !all) return;
  explanation.accept_parked([&](const fiber& f) { return waits_since(f, begin); });
  const held_tasks held(workers_, fence_);
  for (fiber* const f : waiting) {
    const wait_record* const record = f->waits_for.load(base::acquire);  // P1, P4
    if (record != nullptr && waits_since(*f, begin) && owns(*f) && record->construct != nullptr)
      explanation.add(*f, *record);
  }
  if (all) {
    add_running(explanation);
    find_stackless([&](stackless_task& t, const char* construct, const call_site& where) {
      explanation.add(owned_state_of(t), t.outermost(), {construct, nullptr, where});
    });
  }
  explanation.explain(to);
}

void suspended_tasks::explain_beside_running_tasks(const object_names* names, place_waits& to) {
  if (!base::membarrier_available()) {
    to.running.emplace_back(
        "what its tasks await is not known while some run, since the system has no membarrier");
    return;
  }
  hang_explanation explanation(names, graph_scope::some_tasks, graph_purpose::edges);
  explain_long_waits({}, explanation, to);
}

template <class Found>
void suspended_tasks::find_waiting(Found found) const {
  std::vector<copied_wait> copies;
  copies.reserve(copies_at_once);
  const auto check = [&] {
    fence_.heavy_fence();  // P2
    for (const copied_wait& c : copies) {
      if (is_valid(c) && owns(*c.of)) found(c);
    }
    copies.clear();
  };
  for_each([&](const fiber& f) {
    if (const copied_wait c = copy_wait(f); c.waits.construct != nullptr) copies.push_back(c);
    if (copies.size() == copies_at_once) check();
  });
  check();
}

void suspended_tasks::group(wait_groups& groups) {
  const std::lock_guard guard(lock_);
  seen_.resize(stacks_made());
  const time now = std::chrono::steady_clock::now();
  find_waiting([&](const copied_wait& c) {
    groups.add(c.waits, c.task, c.main, waited_s(*c.of, c.generation, now), "");
  });
  const std::uint32_t now_s = seconds_of(now);
  find_stackless([&](stackless_task& t, const char* construct, const call_site& where) {
    groups.add({construct, nullptr, where}, name_and_site_of(t), false, t.seen_for_s(now_s));
  });
}

suspended_stacks suspended_tasks::copy_stacks(std::size_t most_bytes) const {
  wait_groups groups;
  std::vector<copied_wait> wanted;
  find_waiting([&](const copied_wait& c) {
    const std::uint64_t equal = groups.add(c.waits, c.task, c.main, 0);
    if (equal <= stacks_of_a_group && wanted.size() < stacks_at_most) wanted.push_back(c);
  });
  suspended_stacks result;
  find_stackless([&](stackless_task& t, const char* construct, const call_site& where) {
    const wait_record waits(construct, nullptr, where);
    const task_state task = name_and_site_of(t);
    if (groups.add(waits, task, false, 0) <= stacks_of_a_group)
      result.some.push_back({wait_groups::description_of(waits, task, false), 0, {}});
  });
  for (const copied_wait& c : wanted) {
    std::vector<std::byte> bytes = copy_stack(c, most_bytes);
    fence_.heavy_fence();  // P2
    if (!is_valid(c) || !owns(*c.of) || bytes.empty()) continue;
    result.some.push_back({wait_groups::description_of(c.waits, c.task, c.main),
                           reinterpret_cast<std::uintptr_t>(c.stack_pointer), std::move(bytes)});
  }
  result.left_out = groups.tasks() - result.some.size();
  return result;
}

std::size_t suspended_tasks::deepest_stack() const {
  std::size_t deepest = deepest_released_stack();
  for_each([&deepest](const fiber& f) { deepest = used_stack(f, deepest); });
  return deepest;
}

}  // namespace apgas::inline v0::scheduler
