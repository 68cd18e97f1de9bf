// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <apgas/comm/sendable.hpp>
#include <apgas/places/serialization_time.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_task.hpp>
#include <apgas/sync/task_locals.hpp>

// What at and async_at send: a closure with its arguments, and the functions that run it at the
// receiving place. run_remote_async and run_remote_call are the task_thunks (sync/remote_task.hpp)
// of task frames; a frame names one by its handler id.
namespace apgas::inline v0::remote {

// The arguments, each as a base class. A std::tuple does not do: it asks whether closures among its
// elements are assignable, and g++ 12 no longer takes a closure for trivially copyable after that.
template <std::size_t I, class T>
struct argument {
  T value;
};
template <class Indices, class... Ts>
struct argument_list;
template <std::size_t... Is, class... Ts>
struct argument_list<std::index_sequence<Is...>, Ts...> : argument<Is, Ts>... {};

// How F is called with Args at the receiving place, where all of them are decayed. The arguments
// are passed as rvalues, or as lvalues if the closure cannot be called with rvalues.
template <class F, class... Args>
struct remote_body {
  using closure = std::decay_t<F>;
  using indices = std::index_sequence_for<Args...>;
  using arguments = argument_list<indices, std::decay_t<Args>...>;
  static_assert(comm::require_sendable_closure<closure>());
  static_assert((comm::require_sendable_value<std::decay_t<Args>>() && ...));
  static constexpr bool moves = std::is_invocable_v<closure&, std::decay_t<Args>&&...>;
  static constexpr bool callable = moves || std::is_invocable_v<closure&, std::decay_t<Args>&...>;
  static_assert(callable,
                "apgas: the function cannot be called with these arguments, which arrive at the "
                "other place as values: it needs one parameter for each argument, of its type or a "
                "const reference to it");

  template <std::size_t... Is>
  static decltype(auto) call(closure& f, arguments& args, std::index_sequence<Is...>) {
    if constexpr (moves) {
      return std::invoke(f,
                         std::move(static_cast<argument<Is, std::decay_t<Args>>&>(args).value)...);
    } else if constexpr (callable) {
      return std::invoke(f, static_cast<argument<Is, std::decay_t<Args>>&>(args).value...);
    }
  }
  static decltype(auto) call(closure& f, arguments& args) { return call(f, args, indices{}); }
  using result = decltype(call(std::declval<closure&>(), std::declval<arguments&>()));

  static void save(comm::out_archive& to, const closure& f, const std::decay_t<Args>&... args) {
    const serialization_time<is_bytes<F, Args...>> timed;
    to(f, args...);
  }

  struct loaded {
    closure f;
    arguments args;

    decltype(auto) operator()() { return call(f, args); }
  };

  static loaded copy(const closure& f, const std::decay_t<Args>&... args) {
    return loaded{f, arguments{{args}...}};
  }
  static loaded load(comm::in_archive& from) {
    const serialization_time<is_bytes<F, Args...>> timed;
    auto f = from.read<closure>();
    // An initializer list evaluates from left to right, which is the order of the bytes.
    return loaded{std::move(f), arguments{{from.read<std::decay_t<Args>>()}...}};
  }
};

// Whether a body is its bytes, and few enough for a slot of the deque. Then it needs no archive to
// run at the caller's own place with copies.
template <class F, class... Args>
inline constexpr bool is_small_value =
    is_bytes<F, Args...> && scheduler::fits_slot<typename remote_body<F, Args...>::loaded>;

// Serialises the body of an at whose target is the caller's own place, and reads it back, so that
// it runs with copies as it would elsewhere.
template <class F, class... Args>
typename remote_body<F, Args...>::loaded copy_body(const std::decay_t<F>& f,
                                                   const std::decay_t<Args>&... args) {
  comm::out_archive out;
  out.zero_copy_from(comm::zero_copy_min_bytes);
  remote_body<F, Args...>::save(out, f, args...);
  comm::in_archive in(out.bytes(), &comm::this_cma_process());
  return remote_body<F, Args...>::load(in);
}

// Runs the body of an at whose target is the caller's own place. The result is copied as well.
// Context: the task that calls at.
template <class Result, class F, class... Args>
Result run_here(const std::decay_t<F>& f, const std::decay_t<Args>&... args) {
  const sync::own_locals of_body(*scheduler::current_fiber(), false);
  auto body = copy_body<F, Args...>(f, args...);
  if constexpr (std::is_void_v<Result>) {
    body();
  } else {
    static_assert(comm::require_sendable_value<Result>());
    const Result& result = body();
    const serialization_time<is_bytes<Result>> timed;
    comm::out_archive value;
    value.zero_copy_from(comm::zero_copy_min_bytes);
    value(result);
    comm::in_archive back(value.bytes(), &comm::this_cma_process());
    return back.read<Result>();
  }
}

// Runs the task of an async_at. What the body throws goes to its finish.
// Context: task, fresh.
template <class F, class... Args>
scheduler::task_counter* run_remote_async(sync::remote_task& task, scheduler::fiber& self) {
  self.task.site = sync::decode_site(task.site);
  scheduler::task_described(self);
  try {
    comm::in_archive from = task.arguments();
    auto body = remote_body<F, Args...>::load(from);
    task.done();
    body();
  } catch (...) {
    sync::task_failed(self);
  }
  task.done();
  return task.finish;
}

// The form of the reply of at and async_future_at: the result as a value of its own type. The reply
// of at_into has another form (at_into.hpp).
struct reply_with_value {
  template <class Result>
  static consteval bool require() {
    if constexpr (std::is_void_v<Result>) {
      return true;
    } else {
      return comm::require_sendable_value<std::decay_t<Result>>();
    }
  }
  template <class Result>
  static constexpr bool may_be_zero_copy = !is_bytes<Result>;
  template <class Value>
  static void save(comm::out_archive& to, const Value& value) {
    const serialization_time<is_bytes<Value>> timed;
    to(value);
  }
};

// Runs the body of a call that waits for a reply, and replies with its value or with the
// exceptions. A reply with zero-copy parts waits until the caller has read them. Returns null if
// the task had no children: its pending count went with the reply.
// Context: task, fresh.
template <class Reply, class F, class... Args>
scheduler::task_counter* run_remote_call(sync::remote_task& task, scheduler::fiber& self) {
  using body_type = remote_body<F, Args...>;
  using result = typename body_type::result;
  static_assert(Reply::template require<result>());
  self.task.site = sync::decode_site(task.site);
  scheduler::task_described(self);
  const sync::children_mark before(self);
  const comm::rank caller = task.frame.source;
  std::uint64_t& number = task.call;
  const auto reply = [&](bool failed, comm::out_archive& content) -> scheduler::task_counter* {
    task.done();
    const bool ended = !before.has_children();
    sync::finish_core* const finish = task.finish;
    sync::send_reply(*task.place, caller, number, *finish, ended, failed, content);
    return ended ? nullptr : finish;
  };
  comm::out_archive value;
  try {
    comm::in_archive from = task.arguments();
    from(number);
    auto body = body_type::load(from);
    task.done();
    if constexpr (std::is_void_v<result>) {
      body();
    } else {
      const auto& returned = body();
      if (Reply::template may_be_zero_copy<result> && (number & sync::call_of_at) != 0) {
        value.zero_copy_from(task.place->endpoint->zero_copy_from(caller));
      }
      Reply::save(value, returned);
      if (value.has_zero_copy()) {
        sync::send_zero_copy_reply(*task.place, caller, number, *task.finish, value);
        return task.finish;
      }
    }
  } catch (...) {
    comm::out_archive failure;
    sync::save_failure(failure, self);
    return reply(true, failure);
  }
  return reply(false, value);
}

}  // namespace apgas::inline v0::remote
