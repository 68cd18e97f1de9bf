// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

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
//     const apgas::phaser ready;  // registers the body's task, in mode signal_wait
//     apgas::async(apgas::phased(ready, apgas::phaser_mode::signal), [=] {
//       produce();
//       ready.signal();
//     });
//     apgas::async(apgas::phased(ready, apgas::phaser_mode::wait), [=] {
//       ready.wait();  // until the producer has signalled, and the body's task is dropped
//       consume();
//     });
//   });                // the body's task is dropped from `ready` at the end of the body
//
// apgas.hpp explains the words of the contracts.
namespace apgas::inline v0 {

// A handle of a phaser. A handle is a value without pointers: it may be copied, captured by a task
// and sent to other places. Copying it registers no task.
//
// A task is registered on a phaser that it constructs, or from its spawn with phased(ph, mode) on,
// until it drops the phaser or ends, normally or by an exception. The task that constructs a phaser
// is dropped from it at the latest when the innermost finish body ends. The mode of the
// registration says whether the task may signal, wait, or both (phaser_mode.hpp). In the following,
// a *signaller* is a registered task that may signal.
//
// A phase is complete when every signaller has signalled it, or was dropped. Then the tasks that
// wait for it continue. A signal-only task never waits and may run ahead by any number of phases.
// No task waits for a wait-only task, which may lag behind. Registered tasks may spawn registered
// children and drop in any phase. When no signaller is left, no task can become one any more, and
// every wait returns at once. So a consumer must learn from the data, or from a known number of
// phases, that nothing follows.
//
// A task that has waited for a phase sees everything that each signaller wrote before it signalled
// that phase, or was dropped, and everything that the closure of a next_single wrote in between.
//
//   apgas::finish([] {
//     const apgas::phaser ph(apgas::phaser_mode::signal_wait_next);
//     for (int i = 0; i < 4; ++i) {
//       apgas::async(apgas::phased(ph, apgas::phaser_mode::signal_wait_next), [=] {
//         work(i);
//         ph.next();                           // a barrier
//         ph.next_single([] { prepare(); });   // the same, and one task prepares
//         ph.signal();                         // a barrier in two steps: what is between them
//         work(i);                             // need not have ended when the others go on
//         ph.wait();
//         assert(ph.phase() == 3);
//       });
//     }
//     assert(ph.registered());
//     ph.drop();                               // the tasks do not wait for this one
//   });
//
// A phaser spans places, as a clock does. It exists while a task is registered on it; a stale
// handle is detected.
//
// Throws, all operations but the constructor, registered() and ==:
//   - phaser_use_error if the calling task is not registered, if its mode does not allow the
//     operation, or if it is running the closure of a next_single of the same phaser. Only phase()
//     and registered() may be called there.
//   - illegal_operation outside a task; operations that may suspend also inside `atomic` or `when`.
// The operation has no effect then.
//
// Cost of a phase: about that of clock::advance for each task. If a phaser spans places, a phase
// costs one message from and one to each other place with signallers, and one to each place that
// has only waiting tasks, however many tasks there are (docs/protocols/phase.md).
class phaser {
 public:
  // Stands for a number that the constructor chooses from the number of workers of the place.
  static constexpr int automatic = 0;

  // Makes a phaser in phase 0 and registers the calling task on it in the given mode.
  //
  // Parameters: `tiers`, from 1 to 8, is the number of levels of the tree that the phaser has at
  // this place, its home. A tree of one tier is a single tree node. Otherwise every inner tree node
  // has `degree` children, 1 or more, and there are degree^(tiers - 1) leaves, 4096 at most. A task
  // signals at the leaf of its worker, so a tree takes contention off a single lock when many
  // workers signal. automatic stands for one tier up to 16 workers, and otherwise for two tiers
  // with one leaf for every 8 workers. If only `degree` is given, it stands for one tier up to
  // `degree` workers, and otherwise two.
  // Throws: phaser_use_error if a parameter is out of range, other than automatic;
  // illegal_operation outside a task, and inside `atomic` or `when`; std::bad_alloc. There is no
  // registration then. Context: task; does not suspend. Cost: a few allocations for each tree node.
  APGAS_API explicit phaser(phaser_mode mode = phaser_mode::signal_wait, int tiers = automatic,
                            int degree = automatic,
                            scheduler::call_site where = scheduler::call_site::current());

  // Signals and waits, as far as the mode allows: only signals in mode signal, only waits in mode
  // wait.
  // Throws: see the class. Context: task. May suspend; may resume on another worker.
  // Cost: that of clock::advance; in mode signal, that of signal().
  APGAS_API void next(scheduler::call_site where = scheduler::call_site::current()) const;

  // Like next(), for tasks in mode signal_wait_next. When every signaller has signalled the phase,
  // and before any waiting task continues, one of the tasks that called next_single in this phase
  // runs its f() (Habanero `next single`). Over all places, exactly one task does.
  //
  // f sees what every signaller wrote before it signalled. It may spawn tasks, suspend and wait,
  // but not for a task that waits for this phase, and it may not use this phaser (see the class).
  // What f throws is thrown to that task alone, after the phase has completed. Throws:
  // phaser_use_error also if the task has already signalled this phase; otherwise see the class;
  // whatever f throws. Context: task. May suspend; may resume on another worker. Cost: that of
  // next(). At another place than the home, two more messages from that place and one to it.
  template <std::invocable F>
  void next_single(F&& f, scheduler::call_site where = scheduler::call_site::current()) const {
    using closure = std::remove_reference_t<F>;
    next_single_erased([](void* erased) { std::invoke(*static_cast<closure*>(erased)); },
                       const_cast<void*>(static_cast<const void*>(&f)), where);
  }

  // Declares that the calling task has finished its phase. A task that also waits signals once in
  // each phase; a second signal has no effect. A signal-only task thereby enters its next phase.
  // Throws: see the class. Context: task, also inside `atomic` and `when`; does not suspend.
  // Cost: one lock. The last signal of a phase also makes the waiting tasks ready.
  APGAS_API void signal() const;

  // Waits until every signaller has signalled the phase of the calling task. If the task may signal
  // and has not done so, it signals first. Returns at once if the phase is over already, or if no
  // signaller is left. Afterwards the task is in the next phase.
  // Throws: see the class. Context: task. May suspend; may resume on another worker.
  // Cost: that of next().
  APGAS_API void wait(scheduler::call_site where = scheduler::call_site::current()) const;

  // Deregisters the calling task: no task waits for it any more, neither in this phase nor later.
  // Throws: see the class. So a second drop throws, too. Context: task, also inside `atomic` and
  // `when`; does not suspend. Cost: as signal().
  APGAS_API void drop() const;

  // Whether the calling task is registered on the phaser; false for a stale handle.
  // Throws: illegal_operation outside a task.
  // Context: task, also inside `atomic` and `when`; does not suspend.
  APGAS_API bool registered() const;
  // The phase that the calling task is in. It is 0 for the task that made the phaser, and for a
  // child at first the phase that its spawner was in, or the next one if the child only signals
  // and its spawner had signalled. It grows by one with each wait of the task
  // itself; in mode signal, with each signal.
  // Throws: see the class. Context: task, also inside `atomic` and `when`; does not suspend.
  APGAS_API std::int64_t phase() const;

  // Whether both handles identify the same phaser. Throws nothing. Context: any thread.
  bool operator==(const phaser&) const = default;

 private:
  friend struct phaser_access;
  // The constexpr constructor lets the compiler see that a handle contains no pointer, so that it
  // may be sent.
  constexpr explicit phaser(const sync::phase_id& id) noexcept : id_(id) {}

  APGAS_API void next_single_erased(void (*run)(void*), void* closure,
                                    const scheduler::call_site& where) const;

  sync::phase_id id_;
};

// Calls next() on every phaser of the calling task, but on no clock (Habanero `next`). It signals
// all of them before it waits for the first, so that tasks with several phasers cannot wait for
// each other in a cycle. Without any phaser it has no effect.
//
//   const apgas::phaser rows;
//   const apgas::phaser columns;
//   apgas::next();
//
// Throws: phaser_use_error if the task is running the closure of a next_single; illegal_operation
// outside a task, and inside `atomic` or `when`. It has no effect then.
// Context: task. May suspend; may resume on another worker.
// Cost: that of phaser::next for each phaser.
APGAS_API void next(scheduler::call_site where = scheduler::call_site::current());

// For the implementation: access to the identity of a phaser.
struct phaser_access {
  static const sync::phase_id& id(const phaser& ph) noexcept { return ph.id_; }
};

// One pair of a phased clause.
struct phased_entry {
  // The phaser, and how the child is registered on it.
  phaser ph;
  phaser_mode mode;
};

// The clause of async, async_future and async_at that registers the child on phasers (Habanero
// `async phased(ph<mode>)`). The child is registered before it can run, in its spawner's phase, in
// a mode that the spawner's own mode includes. If the spawner has already signalled this phase, a
// child that may signal counts as having signalled it, too; a signal-only child starts in the next
// phase.
//
// The spawn throws phaser_use_error, and neither spawns nor registers a child, if
//   - the spawner is not registered on one of the phasers, or has less than the mode;
//   - a phaser is named twice;
//   - the spawner is running the closure of a next_single of one of the phasers;
//   - the spawner acquired a phaser, by making it or by its own spawn, outside the innermost
//     finish (Habanero's rule). That finish would wait for the child, and the child for a signal of
//     the spawner, which waits in the finish.
//
//   const apgas::phaser ready;
//   const apgas::phased_clause producer = apgas::phased(ready, apgas::phaser_mode::signal);
//   const apgas::phased_entry first = producer.entries[0];
//   assert(first.ph == ready && first.mode == apgas::phaser_mode::signal);
//   for (int i = 0; i < 4; ++i) apgas::async(producer, [] { produce(); });
//   ready.next();  // until all have ended
template <std::size_t N>
struct phased_clause : sync::clause_of_size<N> {
  // The pairs, in the order in which they were named.
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
// `async phased` without a list). The rules and errors are those of phased_clause and, for clocks,
// clocked_clause: a phaser that the spawner acquired outside the innermost finish makes the spawn
// throw, a clock is passed on. The child has its registrations in the order of the spawner, so that
// the innermost clocked_finish is the same for both.
//
//   const auto c = apgas::clock::make();
//   const apgas::phaser ph;
//   const apgas::phased_all_clause all = apgas::phased();
//   apgas::async(all, [] { apgas::next(); });
//   ph.next();
//   c.drop();
struct phased_all_clause : sync::clause_of_any_size {
  template <class F>
  static void for_each(scheduler::fiber& self, const char*, F f) {
    const auto* const all = sync::registrations::of(self);
    if (all == nullptr) return;
    std::vector<sync::registration*> newest_first;
    for (sync::registration* r = all->first(); r != nullptr; r = r->next) newest_first.push_back(r);
    for (sync::registration* const r : std::views::reverse(newest_first)) f(*r, r->mode);
  }
  static std::size_t count(scheduler::fiber& self) noexcept {
    const auto* const all = sync::registrations::of(self);
    std::size_t n = 0;
    for (auto* r = all == nullptr ? nullptr : all->first(); r != nullptr; r = r->next) ++n;
    return n;
  }
};

// Returns the clause that passes on all registrations of the spawner, which may be none. Throws
// nothing. Context: any thread.
inline phased_all_clause phased() { return {}; }

// Returns a clause of pairs: phased(ph, mode), phased(p1, m1, p2, m2), ... Throws nothing; errors
// are thrown by the spawn. Context: any thread. Cost: that of copying the handles.
template <class... More>
  requires(sizeof...(More) % 2 == 0)
auto phased(phaser ph, phaser_mode mode, More... more) {
  const std::tuple all(ph, mode, more...);
  return [&all]<std::size_t... I>(std::index_sequence<I...>) {
    return phased_clause<sizeof...(I)>{{}, {{{std::get<2 * I>(all), std::get<2 * I + 1>(all)}...}}};
  }(std::make_index_sequence<1 + sizeof...(More) / 2>());
}

}  // namespace apgas::inline v0
