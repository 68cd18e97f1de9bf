// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/clock.hpp>
#include <apgas/place.hpp>
#include <apgas/places/remote_body.hpp>
#include <apgas/sync/spawn_from.hpp>
#include <apgas/sync/task.hpp>
#include <apgas/sync/registration_transfer.hpp>

// Running code at another place.
//
// What is sent: the closure must be empty, or trivially copyable without references and pointers,
// or a function object with a Cereal serialize; arguments and results are values that are trivially
// copyable or that Cereal serialises. All arrive as copies, also when the place is this one.
namespace apgas::inline v0 {

// Runs f(args...) at p and returns its value; the caller is suspended meanwhile. Tasks that f
// spawns belong to the caller's finish, so they may outlive this call.
//
// Long vectors and strings among f, the arguments and the result are not copied on their way within
// a node: they are read from where they lie, while the caller waits. So nobody else may change them
// meanwhile.
//
// Throws: what f throws, made again here (exception_types.hpp); serialization_error.
// Context: task; not inside an atomic section. May suspend and resume elsewhere.
// Cost: one message each way. What the caller is registered on goes with it, and comes back as the
// body left it; that costs some messages more.
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

template <class F, class C, class... Args>
void async_at_registered(const char* operation, const sync::spawn_from<place>& p, const C& clause,
                         const F& f, const Args&... args) {
  scheduler::fiber& self = sync::suspendable_fiber(operation);
  comm::out_archive out;
  sync::start_payload(out, p.site);
  remote_body<F, Args...>::save(out, f, args...);
  // Not named in the lambda: g++ 12 would not instantiate it.
  const comm::handler_id thunk = comm::id_of<&run_remote_async<F, Args...>>();
  sync::with_transits(self, operation, clause, [&](const auto& transits) {
    sync::send_registered_task(self, p.value.id(), thunk, out, transits);
  });
}

}  // namespace remote

// Spawns f(args...) as a task at p. The innermost enclosing finish waits for it.
//
// Throws: serialization_error; what copying throws. What f throws goes to the finish.
// Context: task; not inside an atomic section. May suspend while very much is under way to p.
// Cost: one frame, which shares a message with others; its buffers are pooled.
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

// The same, registered on clocks and phasers from the start, as async with these clauses:
//   async_at(p, clocked(c1, c2), f, args...)    async_at(p, clocked(c), phased(ph, mode), f)
// Throws also: clock_use_error, phaser_use_error. If anything is thrown, there is no task.
// Cost: messages to the clock's home when p has no task of that clock, and one back.
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

// The same on the clock of the innermost clocked_finish, as clocked_async.
template <class F, class... Args>
void clocked_async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  remote::async_at_registered<std::decay_t<F>, implicit_clause, std::decay_t<Args>...>(
      "clocked_async_at", p, implicit_clause(), f, args...);
}

// The same, but only the end of the program waits for it: what it throws makes run return 1.
template <class F, class... Args>
void uncounted_async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  scheduler::fiber& self = sync::suspendable_fiber("uncounted_async_at");
  comm::out_archive out;
  sync::start_payload(out, p.site);
  remote::remote_body<F, Args...>::save(out, f, args...);
  sync::send_uncounted_task(self, p.value.id(),
                            comm::id_of<&remote::run_remote_async<F, Args...>>(), out);
}

}  // namespace apgas::inline v0
