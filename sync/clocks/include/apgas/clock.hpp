// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/finish.hpp>
#include <apgas/registered_async.hpp>

// Clocks: barriers for a changing set of tasks, as in X10 (X10 Language Specification, chapter
// "Clocks"), with the eager and lazy operations of uClocks (A. Utture and V. K. Nandivada:
// "Efficient lock-step synchronization in task-parallel languages", 2019).
//
//   apgas::finish([] {
//     const auto c = apgas::clock::make();
//     for (int i = 0; i < 10; ++i) {
//       apgas::async(apgas::clocked(c), [=] {
//         read_neighbours(i);
//         c.advance();         // every task has read
//         write_own(i);
//       });
//     }
//   });                        // the body's task is dropped from c at the end of the body
//
// apgas.hpp explains the words of the contracts.
namespace apgas::inline v0 {

namespace sync {
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): it is final
class phase_event;
}  // namespace sync

// A handle of a clock. A handle is a value without pointers: it may be copied, captured by a task
// and sent to other places. Copying it registers no task.
//
// A task takes part in the phases of a clock while it is *registered* on it. It becomes registered
// by make(), or when a registered task spawns it with clocked(c), in the same phase as its spawner.
// So a task cannot join a clock on its own. It stays registered until it drops the clock or ends.
// Both joining and dropping are possible in every phase.
//
// A task *resumes* a clock (X10's word) when it declares that it has finished its part of the
// phase, by resume() or by advance(). A phase is complete when every registered task has resumed
// the clock. Then the tasks that wait in advance() continue, in the next phase. A registered task
// that does something else, for example waits for an inner finish, delays the others until it
// resumes.
//
// A clock spans places: async_at(p, clocked(c), f) spawns a registered task at another place, and
// `at` takes the caller's registrations along and brings them back. The *home* of a clock is the
// place where it was made. The clock exists while a task is registered on it. Afterwards its
// handles are stale, which is detected, because no task is registered on it.
//
// A clock and a finish are independent: a task may pass a clock on inside a finish that began after
// the clock was acquired (as in X10, and unlike phasers). Such a program can deadlock. A task that
// waits at the end of a finish while it is registered on a clock, and has not resumed it, holds
// back the phase; if a task of that finish waits for the phase, neither continues. The spawner
// avoids this by drop() before the end of the finish, by resume() if the tasks advance only once,
// or by advance() in step with them:
//
//   const auto c = apgas::clock::make();
//   apgas::finish([&] {
//     apgas::async(apgas::clocked(c), [c] { c.advance(); });
//     c.drop();  // without this line the task waits for ever, and so does the finish
//   });
//
// resume, advance, drop and phase throw clock_use_error if the calling task is not registered on
// the clock, in particular for an empty handle; registered() then returns false. A task finds a
// clock by searching its registrations, newest first, so that a task should have few.
//
// Eager and lazy. As in uClocks, each wait is either lazy or eager. A lazy wait suspends the task
// at once. An eager wait first spins for a bounded time while the task's worker has nothing else
// ready, which saves a context switch if there are no more tasks than workers and phases are short
// and even. The choice concerns only the calling task: whichever it makes, the other tasks learn of
// its resume at once. The forms without a suffix are lazy.
//
//   apgas::finish([] {
//     const auto c = apgas::clock::make();
//     apgas::async(apgas::clocked(c), [c] {
//       work();
//       c.advance_eager();        // a short, even phase
//       work();
//       c.advance_lazy();         // as c.advance()
//       c.resume();               // as resume_eager(), resume_lazy()
//       work();                   // no task waits for this
//       c.advance();
//     });
//     assert(c.registered() && c.phase() == 0);
//     c.drop();
//     assert(c.dropped());        // the task above does not wait for this one any more
//   });
//
// Clocks have the three properties that the uClocks paper asks for: a clock shares no lock with any
// other construct (DP1), waiting tasks never cause more threads to run than there are workers
// (DP2), and the operations of a phase are proportional to the number of registered tasks (DP3).
class clock {
 public:
  // An empty handle, which identifies no clock. Context: any thread.
  clock() = default;

  // Makes a clock in phase 0, registers the calling task on it and returns a handle. The task drops
  // it at the latest when the innermost finish body ends, before finish waits (Habanero's rule).
  // Throws: illegal_operation outside a task, and inside `atomic` or `when`; std::bad_alloc.
  // Context: task; does not suspend. Cost: a few allocations.
  APGAS_API static clock make(scheduler::call_site where = scheduler::call_site::current());

  // Declares that the calling task has finished its phase, and returns at once (X10 Clock.resume).
  // The other tasks need not wait for it in this phase, but do in the next one. So the task must
  // call advance() or drop() after the work that it does in between. A second resume in the same
  // phase has no effect.
  // Throws: clock_use_error if the task is not registered; illegal_operation outside a task.
  // Context: task, also inside `atomic` and `when`; does not suspend.
  // Cost: one lock. The last resume of a phase also makes the waiting tasks ready. At another place
  // than the home of the clock, the last resume of the place sends a message to the home.
  //
  //   const auto c = apgas::clock::make();
  //   c.resume();
  //   c.resume_eager();  // has no effect any more in this phase
  //   c.resume_lazy();
  //   work();
  //   c.advance();       // waits at most for other tasks
  //
  // The forms with a suffix, from uClocks, are equivalent.
  APGAS_API void resume() const;
  void resume_eager() const { resume(); }
  void resume_lazy() const { resume(); }

  // Resumes the clock, if the task has not done so in this phase, and waits until every registered
  // task has (X10 Clock.advance). The task is then in the next phase. It sees everything that each
  // of the others wrote before it resumed the clock, or dropped it, in the phase that is over.
  // Throws: clock_use_error if the task is not registered; illegal_operation outside a task, and
  // inside `atomic` or `when`.
  // Context: task. May suspend; may resume on another worker.
  // Cost: 13 to 140 ns for each task and phase, depending on the numbers of tasks and workers
  // (docs/performance.md). A clock that spans places also needs one message from and one to each
  // place with registered tasks but the home.
  void advance(scheduler::call_site where = scheduler::call_site::current()) const {
    advance_lazy(where);
  }
  APGAS_API void advance_lazy(scheduler::call_site where = scheduler::call_site::current()) const;
  APGAS_API void advance_eager(scheduler::call_site where = scheduler::call_site::current()) const;

  // Returns what a coroutine awaits to advance(): `co_await c.advance_awaitable();` in a task<T>
  // (coroutine.hpp). The task stays registered while it waits, but holds no fiber and no stack. The
  // clock is resumed when the coroutine awaits the object, at the latest. Throws, where it is
  // awaited: as advance().
  //
  //   apgas::task<> two_phases(apgas::clock c) {
  //     read_neighbours(1);
  //     co_await c.advance_awaitable();
  //     write_own(1);
  //   }
  //   const auto c = apgas::clock::make();
  //   apgas::async(apgas::clocked(c), two_phases(c));
  //   c.drop();
  //
  // Context: task<T>; may resume on another worker. Cost: one lock when it waits and one submission
  // to the scheduler when the phase ends, so more than advance(), whose tasks are resumed in
  // batches.
  APGAS_API sync::phase_event advance_awaitable(
      scheduler::call_site where = scheduler::call_site::current()) const noexcept;

  // Ends the registration of the calling task: no task waits for it any more (X10 Clock.drop). A
  // task that ends, normally or by an exception, drops all its clocks.
  // Throws: clock_use_error if the task is not registered, so also for a second drop;
  // illegal_operation outside a task.
  // Context: task, also inside `atomic` and `when`; does not suspend. Cost: as resume().
  APGAS_API void drop() const;

  // Whether the calling task is registered on the clock, and the opposite. For an empty or stale
  // handle it is not registered.
  // Throws: illegal_operation outside a task.
  // Context: task, also inside `atomic` and `when`; does not suspend.
  APGAS_API bool registered() const;
  bool dropped() const { return !registered(); }

  // The phase that the calling task is in, from 0. For a task that made the clock it is 0 at first,
  // for a spawned task the phase in which its spawner was. It grows by one with each advance() of
  // the task itself, and does not change by resume().
  // Throws: clock_use_error if the task is not registered; illegal_operation outside a task.
  // Context: task, also inside `atomic` and `when`; does not suspend.
  APGAS_API std::int64_t phase() const;

  // Resume or advance every clock of the calling task, including that of a clocked_finish (X10
  // Clock.advanceAll). advance_all resumes all clocks before it waits for the first one, so that
  // tasks with several clocks cannot wait for each other in a cycle. Without any clock the calls
  // have no effect. The forms with a suffix are as for one clock.
  //
  //   const auto rows = apgas::clock::make();
  //   const auto columns = apgas::clock::make();
  //   apgas::clock::resume_all();         // of all clocks of this task
  //   work();
  //   apgas::clock::advance_all();
  //   apgas::clock::resume_all_eager();
  //   apgas::clock::advance_all_eager();  // waits eagerly for both clocks
  //   apgas::clock::resume_all_lazy();
  //   apgas::clock::advance_all_lazy();   // as advance_all()
  //
  // Throws: illegal_operation outside a task; advance_all also inside `atomic` or `when`.
  // Context: task. advance_all may suspend, and may resume on another worker. resume_all does not
  // suspend, and may be called inside `atomic` and `when`.
  // Cost: that of the calls for each clock.
  APGAS_API static void resume_all();
  static void resume_all_eager() { resume_all(); }
  static void resume_all_lazy() { resume_all(); }
  static void advance_all(scheduler::call_site where = scheduler::call_site::current()) {
    advance_all_lazy(where);
  }
  APGAS_API static void advance_all_lazy(
      scheduler::call_site where = scheduler::call_site::current());
  APGAS_API static void advance_all_eager(
      scheduler::call_site where = scheduler::call_site::current());

  // Whether both handles identify the same clock, or both are empty. Throws nothing.
  // Context: any thread.
  bool operator==(const clock&) const = default;

 private:
  friend struct clock_access;
  explicit clock(const sync::phase_id& id) noexcept : id_(id) {}

  sync::phase_id id_;
};

// For the implementation: access to the identity of a clock and to the implicit clock.
struct clock_access {
  static const sync::phase_id& id(const clock& c) noexcept { return c.id_; }
  // The calling task's registration on the clock of the innermost clocked_finish that it takes part
  // in. Throws: clock_use_error if there is none.
  APGAS_API static sync::registration& implicit(const scheduler::fiber& self,
                                                const char* operation);
  // Makes a clock, as clock::make(), and marks the caller's registration as that on the clock of
  // the innermost finish. Throws: std::bad_alloc. Context: task, in the body of a clocked_finish.
  APGAS_API static void make_implicit(const scheduler::call_site& where);
};

// The clause of async, async_future and async_at that registers the child on the given clocks (X10
// `async clocked(c1, c2)`). The child is registered before it can run, in the phase in which its
// spawner is. If the spawner has already resumed a clock in this phase, the child counts as having
// resumed it, too. The spawn throws clock_use_error, and spawns nothing, if
//   - the spawner is not registered on one of the clocks, or a handle is empty;
//   - a clock is named twice.
//
//   const auto rows = apgas::clock::make();
//   const auto columns = apgas::clock::make();
//   const apgas::clocked_clause both = apgas::clocked(rows, columns);
//   for (int i = 0; i < 4; ++i) apgas::async(both, [] { apgas::clock::advance_all(); });
template <std::size_t N>
struct clocked_clause : sync::clause_of_size<N> {
  // The clocks, in the order in which they were named.
  std::array<clock, N> clocks;

  template <class F>
  void for_each(scheduler::fiber& self, const char* operation, F f) const {
    for (const clock& c : clocks) {
      sync::registration& r =
          sync::registration_of(self, clock_access::id(c), sync::phase_kind::clock, operation);
      f(r, r.mode);
    }
  }
};

// Returns a clause of any number of clocks. clocked() names none: it registers the child on
// nothing, unlike phased(), which stands for all phasers of the spawner. Throws nothing.
// Context: any thread. Cost: that of copying the handles.
template <std::same_as<clock>... C>
clocked_clause<sizeof...(C)> clocked(C... c) {
  return {{}, {c...}};
}

// For the implementation: the clause of clocked_async, which stands for the clock of the innermost
// clocked_finish of the task.
struct implicit_clause : sync::clause_of_size<1> {
  template <class F>
  static void for_each(scheduler::fiber& self, const char* operation, F f) {
    f(clock_access::implicit(self, operation), phaser_mode::signal_wait);
  }
};

// A finish with an implicit clock (X10 `clocked finish`). The task that runs `body` is registered
// on the clock until `body` ends; every task spawned by clocked_async in it is registered until
// that task ends. There is no handle: clock::advance_all() and clock::resume_all() apply to the
// clock, and to all other clocks of the task.
//
//   apgas::clocked_finish([] {
//     for (int i = 0; i < 10; ++i) {
//       apgas::clocked_async([i] {
//         read_neighbours(i);
//         apgas::clock::advance_all();  // every task has read
//         write_own(i);
//       });
//     }
//   });
//
// Returns the value of `body`.
// Throws: multiple_exceptions as finish does; illegal_operation outside a task, and inside `atomic`
// or `when`, and then `body` was not run.
// Context: task. May suspend; may resume on another worker.
// Cost: that of a finish and of clock::make().
template <class F>
auto clocked_finish(F&& body, scheduler::call_site where = scheduler::call_site::current())
    -> std::invoke_result_t<F> {
  sync::suspendable_fiber("clocked_finish");  // so that its error names clocked_finish
  return finish(
      [&]() -> std::invoke_result_t<F> {
        clock_access::make_implicit(where);
        return std::invoke(std::forward<F>(body));
      },
      where);
}

// Spawns f() as a task that is registered on the implicit clock of the innermost clocked_finish
// (X10 `clocked async`), optionally with a name for diagnostics. `f` is copied or moved into the
// task. Inside an ordinary finish that began in the clocked_finish, the ordinary finish waits for
// the task. The calling task cannot drop the clock, so it must advance in step with such a task
// (clock::advance_all), or resume the clock before the end of that finish if the task advances
// once. Throws: clock_use_error if the calling task is not registered on the clock of a
// clocked_finish, because it is neither the body of one nor spawned by clocked_async; otherwise as
// async. Context: task, not inside `atomic` or `when`. May suspend; may resume on another worker.
// Cost: that of async with a clause.
template <std::invocable F>
void clocked_async(F&& f, std::source_location site = std::source_location::current()) {
  sync::async_registered("clocked_async", implicit_clause(), std::forward<F>(f), site);
}
template <std::invocable F>
void clocked_async(name n, F&& f, std::source_location site = std::source_location::current()) {
  sync::async_registered("clocked_async", n, implicit_clause(), std::forward<F>(f), site);
}

}  // namespace apgas::inline v0
