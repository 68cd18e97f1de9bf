// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/place.hpp>
#include <apgas/places/remote_body.hpp>
#include <apgas/sync/spawn_from.hpp>
#include <apgas/sync/task.hpp>

// Running code at another place.
//
// What is sent: the closure must be empty, or trivially copyable without references and pointers,
// or a function object with a Cereal serialize; arguments and results are values that are trivially
// copyable or that Cereal serialises. All arrive as copies, also when the place is this one.
namespace apgas::inline v0 {

// Runs f(args...) at p and returns its value; the caller is suspended meanwhile. Tasks that f
// spawns belong to the caller's finish, so they may outlive this call.
//
// Throws: what f throws, made again here (exception_types.hpp); serialization_error.
// Context: task; not inside an atomic section. May suspend and resume elsewhere.
// Cost: one message each way.
template <class F, class... Args>
auto at(sync::spawn_from<place> p, F&& f, Args&&... args)
    -> std::decay_t<typename remote::remote_body<F, Args...>::result> {
  using body_type = remote::remote_body<F, Args...>;
  using result = std::decay_t<typename body_type::result>;
  scheduler::fiber& self = sync::suspendable_fiber("at");
  sync::place_state& state = sync::place_of(self);
  if (p.value.id() == state.here) return remote::run_here<result, F, Args...>(f, args...);
  comm::out_archive out;
  sync::suspended_call call(*state.calls, sync::finish_of(self));
  sync::start_payload(out, p.site);
  out(call.number());
  body_type::save(out, f, args...);
  sync::send_task(self, p.value.id(), comm::id_of<&remote::run_remote_call<F, Args...>>(), out);
  call.wait();
  if (call.failed()) sync::rethrow_reply(call.value());
  if constexpr (!std::is_void_v<result>) {
    comm::in_archive in(call.value());
    return in.read<result>();
  }
}

// Spawns f(args...) as a task at p. The innermost enclosing finish waits for it.
//
// Throws: serialization_error; what copying throws. What f throws goes to the finish.
// Context: task; not inside an atomic section. May suspend while very much is under way to p.
// Cost: one frame, which shares a message with others; its buffers are pooled.
template <class F, class... Args>
void async_at(sync::spawn_from<place> p, F&& f, Args&&... args) {
  scheduler::fiber& self = sync::suspendable_fiber("async_at");
  comm::out_archive out;
  sync::start_payload(out, p.site);
  remote::remote_body<F, Args...>::save(out, f, args...);
  sync::send_task(self, p.value.id(), comm::id_of<&remote::run_remote_async<F, Args...>>(), out,
                  sync::flag_spawn);
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
