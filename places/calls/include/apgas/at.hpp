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

// Running code at another place (X10's at and async).
//
// What may be sent: a closure is *sendable* if it is empty, if it is trivially copyable and holds
// neither references nor pointers at any depth, or if it is a function object with a Cereal
// serialize function. An argument or result is sendable if it is trivially copyable and no raw
// pointer, or if Cereal serialises it. Anything else does not compile, and the message says what to
// do. Closures, arguments and results always arrive as copies, even if the target place is the
// caller's own.
namespace apgas::inline v0 {

// Runs f(args...) at place p and returns its result. The calling task is suspended meanwhile; its
// worker runs other tasks. Tasks that f spawns belong to the caller's finish, so they may outlive
// this call. Clocks and phasers that the caller is registered on go along: f may advance, drop or
// make some, and afterwards the caller is registered as f was at its end.
//
//   const double x = apgas::at(p, [](int i) { return look_up(i); }, 7);
//
// Within a host, vectors and strings of 16 KiB or more are sent without intermediate copies
// (zero-copy arguments): the receiving place reads them directly from the sender's memory. So while
// the call lasts, no other task may change what was passed to it.
//
// Throws: what f throws, re-created here (exception_types.hpp); serialization_error;
// illegal_operation inside an atomic section or outside a task.
// Context: task, outside atomic sections; may suspend and resume on another worker.
// Cost: one message each way. For a caller with registrations a few more, unless place p already
// has tasks registered on the same clocks.
template <class F, class... Args>
auto at(sync::spawn_from<place> p, F&& f, Args&&... args)
    -> std::decay_t<typename remote::remote_body<F, Args...>::result> {
  using body_type = remote::remote_body<F, Args...>;
  using result = std::decay_t<typename body_type::result>;
  scheduler::fiber& self = sync::suspendable_fiber("at");
  sync::place_state& state = sync::place_of(self);
  if (p.value.id() == state.here) return remote::run_here<result, F, Args...>(f, args...);
  comm::out_archive out;
  sync::suspended_call call(state, sync::finish_of(self));
  sync::start_payload(out, p.site);
  out(call.number() | sync::call_of_at);
  out.zero_copy_from(state.network->zero_copy_from(p.value.id()));
  body_type::save(out, f, args...);
  sync::send_call(self, p.value.id(), comm::id_of<&remote::run_remote_call<F, Args...>>(), out);
  call.wait();
  sync::after_call(call);
  if (call.failed()) sync::rethrow_reply(call.value());
  if constexpr (!std::is_void_v<result>) {
    comm::in_archive in(call.value(), &state.network->cma_process_of(call.from()));
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
// enclosing finish waits for the task, and for all tasks that it spawns. `f` and `args` must be
// sendable (see above).
//
//   apgas::finish([] {
//     for (apgas::place p : apgas::places()) apgas::async_at(p, [](int n) { work(n); }, 100);
//   });
//
// Throws: serialization_error; what copying an argument throws; illegal_operation inside an atomic
// section or outside a task. What f throws goes to the finish.
// Context: task, outside atomic sections; may suspend, and resume on another worker, while p has
// not yet started enough of the tasks sent to it (flow control).
// Cost: one frame, which shares a message with others to the same place; its buffers are pooled.
template <class F, class... Args>
  requires(!sync::registration_clause<F>)
void async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  scheduler::fiber& self = sync::suspendable_fiber("async_at");
  comm::out_archive out;
  sync::start_payload(out, p.site);
  remote::remote_body<F, Args...>::save(out, f, args...);
  sync::send_task(self, p.value.id(), comm::id_of<&remote::run_remote_async<F, Args...>>(), out,
                  sync::flag_spawn);
}

// The same for a task that takes part in clocks and phasers. It is registered on them before it can
// run, as with async:
//
//   async_at(p, clocked(c1, c2), f, args...);
//   async_at(p, clocked(c), phased(ph, mode), f, args...);
//
// Throws also: clock_use_error, phaser_use_error. If the call throws, no task was spawned.
// Cost: if p has no task registered on a clock yet, also messages to the home of that clock, and
// one back.
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

// The same with the implicit clock of the innermost clocked_finish; clocked_async at another place.
// Throws also: clock_use_error if there is no such clock.
template <class F, class... Args>
void clocked_async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  remote::async_at_registered<std::decay_t<F>, implicit_clause, std::decay_t<Args>...>(
      "clocked_async_at", p, implicit_clause(), f, args...);
}

// Spawns f(args...) as a task at place p for which no finish of the program waits, only the end of
// `run` (X10's uncounted async). An exception that leaves f is reported there, and `run` returns 1.
// Otherwise as async_at.
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
