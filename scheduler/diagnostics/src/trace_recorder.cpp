// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/trace_recorder.hpp>

#include <algorithm>
#include <utility>

#include <pthread.h>

#include "trace_lane.hpp"

namespace apgas::inline v0::scheduler {
namespace {

using trace::event_kind;

constexpr std::uint64_t kind_bits = 8;
constexpr std::uint64_t unknown_cause = 1;                 // no flow has this number
constexpr std::uint64_t cycles_between_samples = 300'000;  // some 100 us

// Whether the next sample is due. Another worker may have sampled at a later time than `time`.
bool is_due(std::uint64_t time, std::uint64_t at) { return time > at + cycles_between_samples; }

// What the recorder keeps in observed_task::data[0]. Before the task begins: when and where it was
// spawned. From then on: its label and its wait.
std::uint64_t& spawn_time(observed_task& t) noexcept { return t.data[0][0]; }
std::uint64_t& spawner(observed_task& t) noexcept { return t.data[0][1]; }
std::uint64_t& label_of(observed_task& t) noexcept { return t.data[0][0]; }
std::uint64_t& wait_of(observed_task& t) noexcept { return t.data[0][1]; }
constexpr std::uint64_t worker_bits = 12;

std::uint64_t task_word(const observed_task& t) noexcept {
  std::uint64_t flags = 0;
  if (t.is_branch) flags |= trace::is_branch;
  if (t.is_external) flags |= trace::is_external;
  if (t.below != nullptr) flags |= trace::is_inline;
  return t.id << 4U | flags;
}

std::uint64_t first_word(event_kind kind, std::uint64_t time) noexcept {
  return time << kind_bits | static_cast<std::uint64_t>(kind);
}

}  // namespace

trace_recorder::trace_recorder(trace_options options)
    : options_(std::move(options)),
      base_cycles_(base::cycles()),
      texts_(std::make_unique<texts>()) {
  header_.place = static_cast<std::uint32_t>(options_.place);
  header_.places = static_cast<std::uint32_t>(options_.places);
  header_.threads = static_cast<std::uint32_t>(options_.workers) + 1;
  header_.only_stolen = options_.only_stolen ? 1 : 0;
  header_.base_cycles = base_cycles_;
}

trace_recorder::~trace_recorder() = default;

trace_recorder::lane& trace_recorder::lane_of(const worker& w) noexcept {
  const lanes& all = *lanes_.load(base::acquire);  // P4 of trace_recorder.hpp
  return *all[static_cast<std::size_t>(w.id)];
}

trace_recorder::lane& trace_recorder::lane_of_others() noexcept {
  return *lanes_.load(base::acquire)->back();  // P4 of trace_recorder.hpp
}

// Makes the label of a task that begins, or has begun while nothing was recorded.
void trace_recorder::know(lane& on, observed_task& task) noexcept {
  if (task.began_on != 0) return;
  task.began_on = on.thread + 1;
  label_of(task) = label(on, task.site, nullptr);
  wait_of(task) = 0;
}

// Describes the tasks from `top` down, the lowest first, and returns how many there are. The ring
// has room for them.
std::uint32_t trace_recorder::write_stack(lane& on, observed_task* top,
                                          std::uint64_t time) noexcept {
  std::uint32_t depth = 0;
  if (top == nullptr) return depth;
  if (top->below != nullptr) depth = write_stack(on, top->below, time);
  if (options_.only_stolen && top->below != nullptr) return depth;
  know(on, *top);
  std::uint64_t* const w = on.ring.room(3);
  if (w == nullptr) return depth;  // deeper than a chunk
  w[0] = first_word(event_kind::open, time);
  w[1] = task_word(*top);
  w[2] = label_of(*top);
  on.ring.commit(3);
  return depth + 1;
}

namespace {

std::uint32_t depth_of(const observed_task* top, bool only_lowest) noexcept {
  std::uint32_t n = 0;
  for (; top != nullptr; top = top->below) ++n;
  return only_lowest ? std::min(n, 1U) : n;
}

}  // namespace

// Returns memory for an event. If a new chunk begins, describes the stack of `self` there, which
// may be null.
std::uint64_t* trace_recorder::room(lane& on, const fiber* self, std::size_t words,
                                    std::uint64_t time) noexcept {
  if (std::uint64_t* const at = on.ring.room(words)) [[likely]]
    return at;
  on.ring.next_chunk();
  observed_task* const top = self != nullptr ? self->observed : nullptr;
  std::uint64_t* const w = on.ring.room(2);
  w[0] = first_word(event_kind::chunk, time);
  w[1] = depth_of(top, options_.only_stolen);
  on.ring.commit(2);
  static_cast<void>(write_stack(on, top, time));
  return on.ring.room(words);  // null if the stack fills the chunk
}

std::uint64_t trace_recorder::label(lane& on, const std::source_location& site,
                                    const char* name) noexcept {
  const std::uint64_t place = on.cache.of_site(texts_->table, site);
  const std::uint64_t text = name == nullptr ? 0 : texts_->table.number_of(name);
  return place << 32U | text;
}

void trace_recorder::spawned(fiber& parent, observed_task& child) noexcept {
  if (!recording()) return;
  const std::uint64_t id = parent.observed != nullptr ? parent.observed->id : 0;
  spawn_time(child) = now();
  spawner(child) = id << worker_bits | static_cast<std::uint64_t>(parent.on->id);
}

void trace_recorder::begins(fiber& self, observed_task& task) noexcept {
  if (!recording()) return;
  lane& on = lane_of(*self.on);
  const std::uint64_t time = task.below == nullptr ? now_after_cause() : now();
  const std::uint64_t spawned_at = spawn_time(task);
  const std::uint64_t by = spawner(task);
  know(on, task);
  if (task.below != nullptr && options_.only_stolen) return;
  const event_kind kind = task.is_external        ? event_kind::begin_external
                          : task.below != nullptr ? event_kind::begin_inline
                                                  : event_kind::begin_spawned;
  const std::size_t words = trace::event_words[static_cast<std::size_t>(kind)];
  observed_task* const top = std::exchange(self.observed, task.below);
  std::uint64_t* const w = room(on, &self, words, time);
  self.observed = top;
  if (w == nullptr) return;
  w[0] = first_word(kind, time);
  w[1] = task_word(task);
  w[2] = label_of(task);
  w[3] = task.is_external ? 0 : by >> worker_bits;
  if (kind == event_kind::begin_external) w[4] = task.cause;
  if (kind == event_kind::begin_spawned) {
    w[4] = spawned_at;
    w[5] = by & ((1U << worker_bits) - 1);
  }
  on.ring.commit(words);
  if (is_due(time, sampled_at_.load(base::relaxed))) sample(on, &self, time);
}

void trace_recorder::ends(fiber& self, observed_task& task) noexcept {
  if (!recording() || (task.below != nullptr && options_.only_stolen)) return;
  lane& on = lane_of(*self.on);
  know(on, task);
  if (task.is_branch && label_of(task) >> 32U == 0) {
    label_of(task) = label(on, task.site, nullptr);
    const std::uint64_t time = now();
    if (std::uint64_t* const w = room(on, &self, 3, time)) {
      w[0] = first_word(event_kind::described, time);
      w[1] = task.id;
      w[2] = label_of(task);
      on.ring.commit(3);
    }
  }
  const std::uint64_t time = now();
  std::uint64_t* const w = room(on, &self, 2, time);
  if (w == nullptr) return;
  w[0] = first_word(event_kind::end, time);
  w[1] = task.id;
  on.ring.commit(2);
}

void trace_recorder::described(fiber& self) noexcept {
  if (!recording() || self.observed == nullptr) return;
  observed_task& task = *self.observed;
  lane& on = lane_of(*self.on);
  know(on, task);
  label_of(task) = label(on, task.is_external ? self.task.site : task.site, self.task.name);
  if (task.below != nullptr && options_.only_stolen) return;
  const std::uint64_t time = now();
  std::uint64_t* const w = room(on, &self, 3, time);
  if (w == nullptr) return;
  w[0] = first_word(event_kind::described, time);
  w[1] = task.id;
  w[2] = label_of(task);
  on.ring.commit(3);
}

void trace_recorder::suspends(fiber& self, const wait_record& why) noexcept {
  if (!recording()) return;
  lane& on = lane_of(*self.on);
  const std::uint64_t time = now();
  std::uint64_t* const w = room(on, &self, 5, time);
  if (w == nullptr) return;
  const std::uint64_t wait = ++on.waits * header_.threads + on.thread;
  if (self.observed != nullptr) {
    know(on, *self.observed);
    wait_of(*self.observed) = wait;
  }
  const std::uint64_t construct = on.cache.of_literal(texts_->table, why.construct);
  w[0] = first_word(event_kind::suspend, time);
  w[1] = wait;
  w[2] = construct << 32U | on.cache.of_site(texts_->table, why.where);
  w[3] = self.observed != nullptr ? self.observed->id : 0;
  w[4] = reinterpret_cast<std::uintptr_t>(why.object);
  on.ring.commit(5);
}

void trace_recorder::resumes(fiber& self, std::uint64_t cause) noexcept {
  if (!recording()) return;
  lane& on = lane_of(*self.on);
  const std::uint64_t time = now_after_cause();
  std::uint64_t* const w = room(on, nullptr, 4, time);
  if (w == nullptr) return;
  if (self.observed != nullptr) know(on, *self.observed);
  w[0] = first_word(event_kind::resume, time);
  w[1] = self.observed != nullptr ? wait_of(*self.observed) : 0;
  w[2] = cause;
  w[3] = depth_of(self.observed, options_.only_stolen);
  on.ring.commit(4);
  // Without room for the whole stack, a new chunk begins with it.
  if (on.ring.room(3 * w[3]) == nullptr) {
    static_cast<void>(room(on, &self, 3 * w[3], time));
  } else {
    static_cast<void>(write_stack(on, self.observed, time));
  }
}

std::uint64_t trace_recorder::next_flow() noexcept {
  // An arrow has one end, so only the first one gets the number of the frame.
  if (frame_flow_.load(base::acquire) != 0 &&  // P3 of trace_recorder.hpp
      polling_thread_.load(base::relaxed) == static_cast<std::uint64_t>(pthread_self())) {
    return frame_flow_.exchange(0, base::relaxed);
  }
  const fiber* const f = current_fiber();
  const scheduler* const home = home_.load(base::acquire);  // P2 of trace_recorder.hpp
  const bool is_worker = f != nullptr && home != nullptr && f->on->home == home;
  const lane_guard guard(is_worker ? lane_of(*f->on) : lane_of_others(), !is_worker);
  lane& on = guard.on;
  const std::uint64_t time = now();
  std::uint64_t* const w = room(on, is_worker ? f : nullptr, 2, time);
  if (w == nullptr) return unknown_cause;
  const std::uint64_t flow = trace::local_flow(options_.place, on.thread, ++on.flows);
  w[0] = first_word(event_kind::ready, time);
  w[1] = flow;
  on.ring.commit(2);
  return flow;
}

std::uint64_t trace_recorder::makes_ready(const fiber&) noexcept {
  return recording() ? next_flow() : unknown_cause;
}

std::uint64_t trace_recorder::submits() noexcept { return recording() ? next_flow() : 0; }

void trace_recorder::phase_ends(const void* node, const wait_record* of) noexcept {
  if (!recording()) return;
  const fiber& self = *current_fiber();
  lane& on = lane_of(*self.on);
  const std::uint64_t time = now();
  std::uint64_t* const w = room(on, &self, 3, time);
  if (w == nullptr) return;
  w[0] = first_word(event_kind::phase, time);
  w[1] = reinterpret_cast<std::uintptr_t>(node);
  w[2] = 0;
  if (of != nullptr) {
    if (of->object != nullptr) w[1] = reinterpret_cast<std::uintptr_t>(of->object);
    const std::uint64_t construct = on.cache.of_literal(texts_->table, of->construct);
    w[2] = construct << 32U | on.cache.of_site(texts_->table, of->where);
  }
  on.ring.commit(3);
}

void trace_recorder::worker_begins(worker& w, worker_activity what) noexcept {
  if (!recording()) return;
  lane& on = lane_of(w);
  const std::uint64_t time = now();
  std::uint64_t* const at = room(on, nullptr, 2, time);
  if (at == nullptr) return;
  at[0] = first_word(event_kind::activity_begin, time);
  at[1] = static_cast<std::uint64_t>(what);
  on.ring.commit(2);
}

void trace_recorder::worker_did(worker& w, worker_activity what, std::uint64_t begun,
                                std::uint64_t detail) noexcept {
  if (!recording()) return;
  lane& on = lane_of(w);
  const std::uint64_t time = now();
  std::uint64_t* const at = room(on, current_fiber(), 4, time);
  if (at == nullptr) return;
  at[0] = first_word(event_kind::activity, time);
  at[1] = begun > base_cycles_ ? begun - base_cycles_ : 0;
  at[2] = static_cast<std::uint64_t>(what);
  at[3] = detail;
  on.ring.commit(4);
  if (is_due(time, sampled_at_.load(base::relaxed))) sample(on, current_fiber(), time);
}

void trace_recorder::frame(event_kind what, std::uint64_t flow, std::uint8_t kind,
                           std::uint8_t flags, int other, std::uint64_t bytes) noexcept {
  const fiber* const f = current_fiber();
  const scheduler* const home = home_.load(base::acquire);  // P2 of trace_recorder.hpp
  const bool is_worker = f != nullptr && home != nullptr && f->on->home == home;
  const lane_guard guard(is_worker ? lane_of(*f->on) : lane_of_others(), !is_worker);
  const std::uint64_t time = what == event_kind::received ? now_after_cause() : now();
  std::uint64_t* const w = room(guard.on, is_worker ? f : nullptr, 4, time);
  if (w == nullptr) return;
  w[0] = first_word(what, time);
  w[1] = flow;
  w[2] =
      std::uint64_t{kind} << 56U | std::uint64_t{flags} << 48U | static_cast<std::uint32_t>(other);
  w[3] = bytes;
  guard.on.ring.commit(4);
}

void trace_recorder::frame_sent(std::uint64_t flow, std::uint8_t kind, std::uint8_t flags, int to,
                                std::uint64_t bytes) noexcept {
  if (recording()) frame(event_kind::sent, flow, kind, flags, to, bytes);
}

void trace_recorder::frame_received(std::uint64_t flow, std::uint8_t kind, std::uint8_t flags,
                                    int from, std::uint64_t bytes) noexcept {
  if (flow != 0 && recording()) frame(event_kind::received, flow, kind, flags, from, bytes);
  polling_thread_.store(static_cast<std::uint64_t>(pthread_self()), base::relaxed);
  frame_flow_.store(flow, base::release);  // P3 of trace_recorder.hpp
}

// Records the counters of the place, if no other worker just has.
void trace_recorder::sample(lane& on, const fiber* self, std::uint64_t time) noexcept {
  std::uint64_t last = sampled_at_.load(base::relaxed);
  scheduler* const home = home_.load(base::acquire);  // P2 of trace_recorder.hpp
  if (home == nullptr || !is_due(time, last) ||
      !sampled_at_.compare_exchange_strong(last, time, base::relaxed, base::relaxed)) {
    return;
  }
  std::uint64_t ready = 0;
  for (int i = 0; i < home->num_workers(); ++i) ready += home->worker_at(i).tasks.size();
  const auto write = [&](trace::counter_kind which, std::uint64_t value) {
    std::uint64_t* const w = room(on, self, 2, time);
    if (w == nullptr) return;
    w[0] = first_word(event_kind::counter, time);
    w[1] = static_cast<std::uint64_t>(which) << 56U | (value & (~std::uint64_t{0} >> 8U));
    on.ring.commit(2);
  };
  write(trace::counter_kind::ready_tasks, ready);
  if (options_.bytes_in_flight) {
    write(trace::counter_kind::bytes_in_flight, options_.bytes_in_flight());
  }
}

}  // namespace apgas::inline v0::scheduler
