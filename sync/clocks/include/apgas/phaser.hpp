// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

#include <apgas/clock.hpp>
#include <apgas/phaser_mode.hpp>

// Phasers: barriers and producer-consumer synchronisation in one construct, with tasks that come
// and go ("Phasers", Shirako et al., ICS'08; "Hierarchical Phasers", Shirako and Sarkar, IPDPS'10).
namespace apgas::inline v0 {

// A handle of a phaser: a value that may be copied, captured and sent; copying registers nothing.
// A phase is complete when every task that may signal has signalled it. Tasks that only signal
// never wait and may run ahead, phase by phase; tasks that only wait are waited for by nobody.
//
// Every operation throws phaser_use_error when the calling task is not registered or its mode does
// not allow it, and illegal_operation outside a task. The state ends with the last registration.
class phaser {
 public:
  // A number chosen from the count of workers.
  static constexpr int automatic = 0;

  // A new phaser in phase 0, on which the calling task is registered. With more than one tier it is
  // a tree: tasks signal at leaves, `degree` of which share a parent, and so on up; this takes
  // contention from one lock where many workers signal. One tier is a single node.
  // Throws: phaser_use_error when the tree is not possible.
  // Context: task; not inside an atomic section.
  explicit phaser(phaser_mode mode = phaser_mode::signal_wait, int tiers = automatic,
                  int degree = automatic);

  // signal and wait, as far as the mode allows them.
  // Context: task; not inside an atomic section. May suspend and resume elsewhere.
  void next() const;

  // next() of all tasks in mode signal_wait_next that call it in this phase; one of them runs f()
  // when all have signalled and before any goes on. What f throws is thrown there, in that task.
  // Requires: the task has not signalled this phase.
  template <std::invocable F>
  void next_single(F&& f) const {
    using closure = std::remove_reference_t<F>;
    next_single_erased([](void* erased) { std::invoke(*static_cast<closure*>(erased)); },
                       const_cast<void*>(static_cast<const void*>(&f)));
  }

  // The task has finished its phase. A task that also waits signals once per phase (more has no
  // effect); one that only signals goes on to its next phase. Context: task; does not suspend.
  void signal() const;

  // Waits until all have signalled the phase of this task; signals itself first if it may and has
  // not. Returns at once when nobody is left who could signal.
  // Context: task; not inside an atomic section. May suspend and resume elsewhere.
  void wait() const;

  // The calling task takes part no more. Context: task; does not suspend.
  void drop() const;

  bool registered() const;
  // The phase that the calling task is in, from 0: the phases that it has waited for, or signalled
  // if it only signals.
  std::int64_t phase() const;

  bool operator==(const phaser&) const = default;

 private:
  friend struct phaser_access;
  // Lets the compiler see that a handle is a value, which may be sent.
  constexpr explicit phaser(const sync::phase_id& id) noexcept : id_(id) {}

  void next_single_erased(void (*run)(void*), void* closure) const;

  sync::phase_id id_;
};

// next() on every phaser of the calling task: signals all before it waits for the first.
// Context: task; not inside an atomic section. May suspend and resume elsewhere.
void next();

struct phaser_access {
  static const sync::phase_id& id(const phaser& ph) noexcept { return ph.id_; }
};

// For async and async_future: the child is registered in the phase of its spawner, before it can
// run, in modes that the spawner has itself. They must have been acquired inside the innermost
// finish, which would otherwise wait for a child that waits for its spawner.
struct phased_entry {
  phaser ph;
  phaser_mode mode;
};

template <std::size_t N>
struct phased_clause : sync::clause_of_size<N> {
  std::array<phased_entry, N> entries;

  template <class F>
  void for_each(scheduler::fiber& self, const char* operation, F f) const {
    for (const phased_entry& e : entries) {
      f(sync::registration_of(self, phaser_access::id(e.ph), sync::phase_kind::phaser, operation),
        e.mode);
    }
  }
};

// Everything that the spawner is registered on, clocks too, in its modes.
struct phased_all_clause : sync::clause_of_any_size {
  template <class F>
  static void for_each(scheduler::fiber& self, const char*, F f) {
    const auto* const all = sync::registrations::of(self);
    if (all == nullptr) return;
    for (sync::registration* r = all->first(); r != nullptr; r = r->next) {
      f(*r, r->mode);
    }
  }
  static std::size_t count(scheduler::fiber& self) {
    std::size_t n = 0;
    for_each(self, "", [&n](auto&, phaser_mode) { ++n; });
    return n;
  }
};

inline phased_all_clause phased() { return {}; }

// phased(ph, mode), phased(p1, m1, p2, m2), ...
template <class... More>
  requires(sizeof...(More) % 2 == 0)
auto phased(phaser ph, phaser_mode mode, More... more) {
  const std::tuple all(ph, mode, more...);
  return [&all]<std::size_t... I>(std::index_sequence<I...>) {
    return phased_clause<sizeof...(I)>{{}, {{{std::get<2 * I>(all), std::get<2 * I + 1>(all)}...}}};
  }(std::make_index_sequence<1 + sizeof...(More) / 2>());
}

}  // namespace apgas::inline v0
