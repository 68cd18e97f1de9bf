// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

#include <apgas/at.hpp>
#include <apgas/future.hpp>
#include <apgas/global_ptr.hpp>
#include <apgas/places/bulk_copy.hpp>
#include <apgas/places/message_access.hpp>

// Reading and writing the memory behind a global_ptr. No task runs at the other place.
//
//              returns when it is done         the finish waits             a future
//   one        rput, rget                      async_rput                   rput_future,
//   rget_future several    copy                            async_copy                   copy_future
//
// Done means: there, for whoever learns of it by a message, a remote atomic, or the end of a
// finish. Elements are moved as bytes; who reads what another writes at the same time gets any mix
// of both: for that are the atomics of remote_atomics.hpp.
//
// Throws of all: illegal_operation for a pointer to nothing, to a block that was deallocated or is
// of another run, and for elements that are not in the block; nothing was moved then, but by a
// longer copy the part before. The asynchronous ones give it to the finish or the future where it
// is found at the other place.
// Context of all: task; not inside an atomic section. May suspend and resume elsewhere.
// Cost: where this place reaches the memory itself (its own, those of its node over ucx, and of the
// process) about 5 ns and the bytes; else a message each way, served without a task.
namespace apgas::inline v0 {

template <class T>
void rput(const std::type_identity_t<T>& value, global_ptr<T> to) {
  scheduler::fiber& self = sync::suspendable_fiber("rput");
  remote::put(self, "rput", {remote::bytes_at(&value), remote::range_of(to, 1)});
}

template <class T>
T rget(global_ptr<T> from) {
  scheduler::fiber& self = sync::suspendable_fiber("rget");
  comm::detail::raw_bytes<sizeof(T)> raw;
  remote::get(self, "rget", {remote::range_of(from, 1), remote::bytes_at(&raw)});
  return __builtin_bit_cast(T, raw);
}

template <class T>
void copy(std::span<const std::type_identity_t<T>> from, global_ptr<T> to) {
  scheduler::fiber& self = sync::suspendable_fiber("copy");
  remote::put(self, "copy", {remote::bytes_at(from.data()), remote::range_of(to, from.size())});
}

template <class T>
void copy(global_ptr<T> from, std::span<std::type_identity_t<T>> to) {
  scheduler::fiber& self = sync::suspendable_fiber("copy");
  remote::get(self, "copy", {remote::range_of(from, to.size()), remote::bytes_at(to.data())});
}

// From any place to any other. The two must not overlap.
template <class T, std::integral N>
void copy(global_ptr<T> from, global_ptr<T> to, N n) {
  scheduler::fiber& self = sync::suspendable_fiber("copy");
  const auto count = static_cast<std::uint64_t>(n);  // a negative one is in no block
  remote::bulk_copy_between(self, "copy", remote::range_of(from, count), remote::range_of(to, count));
}

// The value is copied; a span must stay as it is until the innermost finish has ended.
template <class T>
void async_rput(const std::type_identity_t<T>& value, global_ptr<T> to,
                std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_rput");
  remote::async_put(self, "async_rput", {remote::bytes_at(&value), remote::range_of(to, 1)}, site);
}

template <class T>
void async_copy(std::span<const std::type_identity_t<T>> from, global_ptr<T> to,
                std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_copy");
  remote::async_put(self, "async_copy",
                    {remote::bytes_at(from.data()), remote::range_of(to, from.size())}, site);
}

template <class T>
void async_copy(global_ptr<T> from, std::span<std::type_identity_t<T>> to,
                std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_copy");
  remote::async_get(self, "async_copy",
                    {remote::range_of(from, to.size()), remote::bytes_at(to.data())}, site);
}

// Spawns a task for it.
template <class T, std::integral N>
void async_copy(global_ptr<T> from, global_ptr<T> to, N n,
                std::source_location site = std::source_location::current()) {
  async([from, to, n] { copy(from, to, n); }, site);
}

// The innermost finish waits for what these began, too, so that a span may not go before.
template <class T>
future<void> rput_future(const std::type_identity_t<T>& value, global_ptr<T> to,
                         std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("rput_future");
  return remote::put_future(self, "rput_future",
                            {remote::bytes_at(&value), remote::range_of(to, 1)}, site);
}

template <class T>
future<T> rget_future(global_ptr<T> from,
                      std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("rget_future");
  return remote::get_future<T>(self, "rget_future", {remote::range_of(from, 1), nullptr}, site);
}

template <class T>
future<void> copy_future(std::span<const std::type_identity_t<T>> from, global_ptr<T> to,
                         std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("copy_future");
  return remote::put_future(self, "copy_future",
                            {remote::bytes_at(from.data()), remote::range_of(to, from.size())},
                            site);
}

template <class T>
future<void> copy_future(global_ptr<T> from, std::span<std::type_identity_t<T>> to,
                         std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("copy_future");
  return remote::get_future<void>(
      self, "copy_future", {remote::range_of(from, to.size()), remote::bytes_at(to.data())}, site);
}

// Spawns a task for it.
template <class T, std::integral N>
future<void> copy_future(global_ptr<T> from, global_ptr<T> to, N n,
                         std::source_location site = std::source_location::current()) {
  return async_future([from, to, n] { copy(from, to, n); }, site);
}

// Puts, and then spawns f(args...) as a task at the home of `to`, where it sees what was put. The
// innermost finish waits for the task. What may be sent: at.hpp. Where the put throws, there is no
// task. Cost: where the memory is reached by messages, those of the put go before.
template <class T, class F, class... Args>
void rput_notify(sync::spawn_from<std::type_identity_t<T>> value, global_ptr<T> to, F&& f,
                 Args&&... args) {
  rput(value.value, to);
  async_at({to.home(), value.site}, std::forward<F>(f), std::forward<Args>(args)...);
}

template <class T, class F, class... Args>
void copy_notify(sync::spawn_from<std::span<const std::type_identity_t<T>>> from, global_ptr<T> to,
                 F&& f, Args&&... args) {
  copy(from.value, to);
  async_at({to.home(), from.site}, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace apgas::inline v0
