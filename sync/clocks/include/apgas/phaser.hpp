// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/clock.hpp>
#include <apgas/phaser_mode.hpp>

// Phasers unify barriers and producer-consumer synchronisation for a changing set of tasks. They
// come from Habanero: J. Shirako, D. Peixotto, V. Sarkar and W. Scherer: "Phasers: a unified
// deadlock-free construct for collective and point-to-point synchronization", ICS 2008; J. Shirako
// and V. Sarkar: "Hierarchical phasers for scalable synchronization and reductions in dynamic
// parallelism", IPDPS 2010.
//
//   apgas::finish([] {
//     const apgas::phaser ready;
//     apgas::async(apgas::phased(ready, apgas::phaser_mode::signal), [=] {
//       produce();
//       ready.signal();
//     });
//     apgas::async(apgas::phased(ready, apgas::phaser_mode::wait), [=] {
//       ready.wait();  // until the producer, and the body's task, have signalled
//       consume();
//     });
//   });                // the body's task is dropped from `ready` at the end of the body
namespace apgas::inline v0 {

// A handle of a phaser. A handle is a value without pointers: it may be copied, captured by a task
// and sent to other places. Copying it registers no task.
//
// A task is registered on a phaser from its construction, or from its spawn with phased(ph, mode),
// until it drops the phaser or ends. The mode of the registration says whether the task may signal,
// wait, or both (phaser_mode.hpp). A phase is complete when every registered task that may signal
// has signalled it. A signal-only task never waits and may run ahead by any number of phases. No
// task waits for a wait-only task. Tasks may register and drop at any time. A phaser spans places,
// as a clock does. It exists while a task is registered on it; a stale handle is detected.
//
// Every operation throws phaser_use_error if the calling task is not registered or its mode does
// not allow the operation, and illegal_operation outside a task. The closure of a next_single may
// not use the same phaser, except for phase() and registered(); it gets a phaser_use_error.
class phaser {
 public:
  // Stands for a number that is chosen from the number of workers.
  static constexpr int automatic = 0;

  // Makes a phaser in phase 0 and registers the calling task on it in the given mode. At the end of
  // the innermost finish body the task is dropped from it.
  //
  // With more than one tier the phaser is a tree of `tiers` levels, in which every inner tree node
  // has `degree` children. A task signals at a leaf. A tree takes contention off a single lock when
  // many workers signal. phaser::automatic chooses one tier up to 16 workers, and otherwise two
  // tiers with one leaf for every 8 workers.
  // Parameters: `tiers` from 1 to 8 and `degree` >= 1, such that the tree has at most 4096 leaves.
  // Throws: phaser_use_error if the tree is larger or a parameter is less than 1; illegal_operation
  // outside a task, and inside `atomic` or `when`; std::bad_alloc.
  // Context: task. Cost: a few allocations for each tree node.
  APGAS_API explicit phaser(phaser_mode mode = phaser_mode::signal_wait, int tiers = automatic,
                            int degree = automatic);

  // Signals and waits, as far as the mode allows: only signals in mode signal, only waits in mode
  // wait.
  // Throws: phaser_use_error (see the class); illegal_operation outside a task, and inside `atomic`
  // or `when`.
  // Context: task. May suspend; may resume on another worker. Cost: as clock::advance.
  APGAS_API void next() const;

  // Like next(), for tasks in mode signal_wait_next. When every signaller has signalled the phase,
  // and before any waiting task continues, one of the tasks that called next_single in this phase
  // runs f() (Habanero `next single`). Over all places, exactly one task does. What f throws is
  // thrown to that task alone, after the phase has completed.
  // Throws: phaser_use_error if the mode is not signal_wait_next, if the task has already signalled
  // this phase, and as in the class; illegal_operation as next(); whatever f throws.
  // Context: task. May suspend; may resume on another worker.
  template <std::invocable F>
  void next_single(F&& f) const {
    using closure = std::remove_reference_t<F>;
    next_single_erased([](void* erased) { std::invoke(*static_cast<closure*>(erased)); },
                       const_cast<void*>(static_cast<const void*>(&f)));
  }

  // Declares that the calling task has finished its phase. A task that also waits signals once in
  // each phase; a second signal has no effect. A signal-only task thereby enters its next phase.
  // Throws: phaser_use_error (see the class). Context: task, also inside `atomic` and `when`; does
  // not suspend. Cost: one lock.
  APGAS_API void signal() const;

  // Waits until every signaller has signalled the phase of the calling task. If the task may signal
  // and has not done so, it signals first. Returns at once if no signaller is left. Afterwards the
  // task is in the next phase.
  // Throws: phaser_use_error (see the class); illegal_operation outside a task, and inside `atomic`
  // or `when`.
  // Context: task. May suspend; may resume on another worker.
  APGAS_API void wait() const;

  // Deregisters the calling task: no task waits for it any more. A task that ends drops all its
  // phasers.
  // Throws: phaser_use_error (see the class). Context: task, also inside `atomic` and `when`; does
  // not suspend. Cost: one lock.
  APGAS_API void drop() const;

  // Whether the calling task is registered on the phaser. Throws: illegal_operation outside a task.
  // Context: task; does not suspend.
  APGAS_API bool registered() const;
  // The phase that the calling task is in, from 0: the number of phases that it has waited for, or
  // that it has signalled if it is signal-only. A child starts in its spawner's phase.
  // Throws: phaser_use_error (see the class). Context: task; does not suspend.
  APGAS_API std::int64_t phase() const;

  // Whether both handles identify the same phaser. Context: any thread.
  bool operator==(const phaser&) const = default;

 private:
  friend struct phaser_access;
  // The constexpr constructor lets the compiler see that a handle contains no pointer, so that it
  // may be sent.
  constexpr explicit phaser(const sync::phase_id& id) noexcept : id_(id) {}

  APGAS_API void next_single_erased(void (*run)(void*), void* closure) const;

  sync::phase_id id_;
};

// Calls next() on every phaser of the calling task (Habanero `next`): signals all of them before it
// waits for the first, so that tasks with several phasers cannot wait for each other in a cycle.
// Without any phaser it has no effect.
// Throws: phaser_use_error if the task is running the closure of a next_single; illegal_operation
// outside a task, and inside `atomic` or `when`.
// Context: task. May suspend; may resume on another worker.
APGAS_API void next();

// For the implementation: access to the identity of a phaser.
struct phaser_access {
  static const sync::phase_id& id(const phaser& ph) noexcept { return ph.id_; }
};

// One pair of a phased clause.
struct phased_entry {
  phaser ph;
  phaser_mode mode;
};

// The clause of async, async_future and async_at that registers the child on phasers (Habanero
// `async phased(ph<mode>)`). The child is registered before it can run, in its spawner's phase, in
// a mode that the spawner's own mode includes. The spawn throws phaser_use_error if the spawner is
// not registered on one of the phasers or has less than the mode, if a phaser is named twice, or if
// a phaser was acquired outside the innermost finish: that finish would wait for a child that waits
// for its spawner.
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

// Registers the child on every phaser and clock of its spawner, in the spawner's modes (Habanero
// `async phased` without a list).
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

// Makes the clause that passes on all registrations of the spawner. Context: any thread.
inline phased_all_clause phased() { return {}; }

// Makes a clause from pairs: phased(ph, mode), phased(p1, m1, p2, m2), ... Context: any thread.
template <class... More>
  requires(sizeof...(More) % 2 == 0)
auto phased(phaser ph, phaser_mode mode, More... more) {
  const std::tuple all(ph, mode, more...);
  return [&all]<std::size_t... I>(std::index_sequence<I...>) {
    return phased_clause<sizeof...(I)>{{}, {{{std::get<2 * I>(all), std::get<2 * I + 1>(all)}...}}};
  }(std::make_index_sequence<1 + sizeof...(More) / 2>());
}

}  // namespace apgas::inline v0
