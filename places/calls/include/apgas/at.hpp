// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/clock.hpp>
#include <apgas/place.hpp>
#include <apgas/places/remote_body.hpp>
#include <apgas/sync/registration_transfer.hpp>
#include <apgas/sync/spawn_from.hpp>
#include <apgas/sync/task.hpp>

// Running code at another place (X10's at and async). apgas.hpp explains the words of the
// contracts.
//
// What may be sent (*sendable*). Types are checked at compile time, and the message for one that is
// refused says what to do.
//
//   - A closure is sendable if it captures nothing, or if it is trivially copyable and captures no
//     reference and no pointer, not even inside another object. A function object with a Cereal
//     serialize function is sendable as well. A function or function pointer is not, since its
//     address may differ at the other place: wrap the call in a lambda.
//   - An argument or a result is sendable if it is trivially copyable and neither is nor contains a
//     pointer, or if Cereal serialises it and its elements: the containers and smart pointers of
//     the standard library, and classes with a serialize function.
//   - The compiler cannot look into everything. It refuses some harmless types, such as unions: set
//     send_as_bytes (send_as_bytes.hpp) for them. With g++ it does not see pointers in captured
//     arrays, nor in an argument whose class has no constexpr constructor. Such a pointer
//     is sent as it is, and is meaningless at the other place.
//
// Closures, arguments and results always arrive as copies, even if p is the caller's own place and
// even if f returns a reference. f is called with the copies as rvalues, or as lvalues if it does
// not accept rvalues. One call sends at most 1 GiB.
//
// `p` is a `place`. Its parameter type, sync::spawn_from<place>, converts from `place` and records
// where the call is in the source code, for reports.
//
// A *frame* is a small message with a header; several frames to one place share a message of the
// network.
namespace apgas::inline v0 {

namespace remote {

// Sends f and args to place p, which is another place, and waits until the reply has arrived.
// Throws what left f.
template <class Reply, class F, class... Args>
void call_and_wait(scheduler::fiber& self, sync::suspended_call& call,
                   const sync::spawn_from<place>& p, const F& f, const Args&... args) {
  const comm::rank dest = p.value.id();
  comm::out_archive out;
  sync::start_payload(out, p.site);
  out(call.number() | sync::call_of_at);
  if constexpr (!is_bytes<F, Args...>) {
    out.zero_copy_from(sync::place_of(self).endpoint->zero_copy_from(dest));
  }
  remote_body<F, Args...>::save(out, f, args...);
  const std::uint64_t patience =
      out.has_zero_copy() ? scheduler::reading_patience_cycles : scheduler::patience_cycles;
  sync::send_call(self, dest, comm::id_of<&run_remote_call<Reply, F, Args...>>(), out);
  call.goes_to(dest);
  call.wait(patience, {"at", &call, p.site, &sync::suspended_call::explain});
  sync::after_call(call);
  if (call.failed()) sync::rethrow_reply(call.value());
}

}  // namespace remote

// Runs f(args...) at place p and returns a copy of its result. The calling task waits meanwhile;
// its worker runs other tasks. If p is the caller's own place, f runs in the calling task, with
// copies of the arguments. Tasks that f spawns belong to the caller's finish, which also receives
// their exceptions; so they may outlive this call. Clocks and phasers that the caller is registered
// on go along: f may advance, drop or make some, and afterwards the caller is registered as f was
// at its end.
//
//   const double x = apgas::at(p, [](int i) { return look_up(i); }, 7);
//
// Within a host, vectors and strings of 16 KiB or more are sent without intermediate copies
// (zero-copy arguments): the receiving place reads them from the sender's memory while the caller
// waits. So no other task may change what was passed to the call until it has returned. The memory
// of a new std::vector is filled with zeros first and may need page faults; uninitialized_vector
// (uninitialized_vector.hpp) avoids both, and at_into (at_into.hpp) receives a result into memory
// of the caller.
//
// Throws:
//   - the exception that left f. If p is another place, it is created again here from its type and
//     its text. This works for the exceptions of the library and of the standard library, and for
//     types that exception_types lists (exception_types.hpp). For others, a remote_exception with
//     the name of the type and the text is thrown.
//   - serialization_error and what the serialize functions throw; f may have run already if it was
//     the result that could not be sent or read.
//   - illegal_operation inside `atomic` or `when`, or outside a task. f was not run then.
// Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: one frame each way. For a caller with registrations a few more, unless place p already has
// tasks registered on the same clocks.
template <class F, class... Args>
auto at(sync::spawn_from<place> p, F&& f, Args&&... args)
    -> std::decay_t<typename remote::remote_body<F, Args...>::result> {
  using result = std::decay_t<typename remote::remote_body<F, Args...>::result>;
  scheduler::fiber& self = sync::suspendable_fiber("at");
  sync::place_state& state = sync::place_of(self);
  if (p.value.id() == state.here) return remote::run_here<result, F, Args...>(f, args...);
  sync::suspended_call call(state, sync::finish_of(self));
  remote::call_and_wait<remote::reply_with_value, std::decay_t<F>, std::decay_t<Args>...>(
      self, call, p, f, args...);
  if constexpr (!std::is_void_v<result>) {
    const remote::serialization_time<remote::is_bytes<result>> timed;
    comm::in_archive in(call.value(), &state.endpoint->cma_process_of(call.from()));
    return in.read<result>();
  }
}

namespace remote {

// async_at with a registration clause. `operation` is the public function that was called; error
// messages name it.
template <class F, class C, class... Args>
void async_at_registered(const char* operation, const sync::spawn_from<place>& p, const C& clause,
                         const F& f, const Args&... args) {
  scheduler::fiber& self = sync::suspendable_fiber(operation);
  comm::out_archive out;
  sync::start_payload(out, p.site);
  remote_body<F, Args...>::save(out, f, args...);
  // Outside of the lambda, since g++ 12 would not instantiate the function there.
  const comm::handler_id thunk = comm::id_of<&run_remote_async<F, Args...>>();
  sync::with_transits(self, operation, clause, [&](const auto& transits) {
    sync::send_registered_task(self, p.value.id(), thunk, out, transits);
  });
}

}  // namespace remote

// Spawns f(args...) as a task at place p and returns when the task is on its way. The innermost
// enclosing finish waits for the task, and for all tasks that it spawns. The result of f is
// discarded. `f` and `args` must be sendable (see above). They are copied before the call returns,
// and before it suspends, so they may be changed again afterwards.
//
//   apgas::finish([] {
//     for (apgas::place each : apgas::places()) apgas::async_at(each, [](int i) { work(i); }, 100);
//   });
//
// Throws: serialization_error; what copying an argument throws; illegal_operation inside `atomic`
// or `when`, or outside a task. No task was spawned then. What f throws, or reading its arguments,
// goes to the finish.
// Context: task, not inside `atomic` or `when`. Flow control: the call suspends while too many of
// the bytes sent to p wait to be sent or started there (APGAS_SEND_QUEUE, APGAS_TASK_WINDOW), and
// may then resume on another worker. docs/constructs.md has the details.
// Cost: one frame, or a part of one; its buffers are pooled. At the caller's own place, a function
// that is sent as its bytes costs an async.
template <class F, class... Args>
  requires(!sync::registration_clause<F>)
void async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  scheduler::fiber& self = sync::suspendable_fiber("async_at");
  if constexpr (remote::is_small_value<F, Args...>) {
    if (p.value.id() == sync::place_of(self).here) {
      return sync::spawn(self, remote::remote_body<F, Args...>::copy(f, args...), p.site);
    }
  }
  comm::out_archive out;
  sync::start_payload(out, p.site);
  remote::remote_body<F, Args...>::save(out, f, args...);
  sync::send_task(self, p.value.id(), comm::id_of<&remote::run_remote_async<F, Args...>>(), out,
                  sync::flag_spawn);
}

// The same for a task that takes part in clocks and phasers. It is registered on them before it can
// run, as with async (registered_async.hpp). There are one or two clauses before f: clocked(...)
// with any number of clocks (clock.hpp), and phased(...) with any number of phasers, each with the
// mode in which the task is registered (phaser.hpp):
//
//   apgas::finish([] {
//     const auto c = apgas::clock::make();
//     const apgas::phaser ph;
//     apgas::async_at(p, apgas::clocked(c), [c](int i) { work(i), c.advance(); }, 7);
//     apgas::async_at(p, apgas::clocked(c), apgas::phased(ph, apgas::phaser_mode::signal),
//                     [c, ph] { ph.signal(), c.advance(); });
//   });
//
// Throws also: clock_use_error, phaser_use_error as the clauses say. If the call throws, no task
// was spawned and nothing registered.
// Context: as async_at without a clause.
// Cost: if p has no task registered on a clock or phaser yet, also messages to its home, the place
// where it was made, and one back.
template <sync::registration_clause C, class F, class... Args>
  requires(!sync::registration_clause<F>)
void async_at(sync::spawn_from<place> p, C&& clause, F&& f, Args&&... args) {
  remote::async_at_registered<std::decay_t<F>, std::decay_t<C>, std::decay_t<Args>...>(
      "async_at", p, clause, f, args...);
}
template <sync::registration_clause C, sync::registration_clause D, class F, class... Args>
void async_at(sync::spawn_from<place> p, C&& clause, D&& other, F&& f, Args&&... args) {
  const sync::both both(clause, other);
  remote::async_at_registered<std::decay_t<F>, decltype(both), std::decay_t<Args>...>(
      "async_at", p, both, f, args...);
}

// The same with the implicit clock of the innermost clocked_finish: clocked_async (clock.hpp) at
// another place.
//
//   apgas::clocked_finish([] {
//     for (apgas::place each : apgas::places()) {
//       apgas::clocked_async_at(each, [] {
//         prepare();
//         apgas::clock::advance_all();  // all places have prepared
//         work();
//       });
//     }
//   });
//
// Throws also: clock_use_error if the calling task is not registered on the clock of a
// clocked_finish.
// Context, Cost: as async_at with clocked(c).
template <class F, class... Args>
void clocked_async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  remote::async_at_registered<std::decay_t<F>, implicit_clause, std::decay_t<Args>...>(
      "clocked_async_at", p, implicit_clause(), f, args...);
}

// Spawns f(args...) as a task at place p for which no finish of the program waits. Only
// apgas::run (run.hpp), which started the program, waits for it before it returns (X10's uncounted
// async). If an exception leaves f, place 0 prints it on standard error at the end of `run`, and
// `run` returns 1.
//
//   apgas::uncounted_async_at(p, [] { work(); });
//
// Throws, Context, Cost: as async_at without a clause.
template <class F, class... Args>
void uncounted_async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  scheduler::fiber& self = sync::suspendable_fiber("uncounted_async_at");
  comm::out_archive out;
  sync::start_payload(out, p.site);
  remote::remote_body<F, Args...>::save(out, f, args...);
  sync::send_uncounted_task(self, p.value.id(),
                            comm::id_of<&remote::run_remote_async<F, Args...>>(), out);
}

// Calls with the number of a place in the place of a place. They do not compile, and one sentence
// of the compiler says why.

namespace remote {

template <class P>
consteval void require_place() {
  static_assert(!std::integral<P>,
                "apgas: the first argument is a number, but must be a place: at(apgas::place(3), "
                "[] { ... })");
}

}  // namespace remote

template <std::integral P, class... Rest>
auto at(P, Rest&&...) {
  remote::require_place<P>();
}
template <std::integral P, class... Rest>
void at_into(P, Rest&&...) {
  remote::require_place<P>();
}
template <std::integral P, class... Rest>
auto async_at(P, Rest&&...) {
  remote::require_place<P>();
}
template <std::integral P, class... Rest>
auto uncounted_async_at(P, Rest&&...) {
  remote::require_place<P>();
}
template <std::integral P, class... Rest>
auto clocked_async_at(P, Rest&&...) {
  remote::require_place<P>();
}
template <std::integral P, class... Rest>
auto async_future_at(P, Rest&&...) {
  remote::require_place<P>();
}

}  // namespace apgas::inline v0
