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

// One-sided communication: reading and writing the memory that a global_ptr points into (UPC++'s
// rput, rget and copy). No task runs at the other place.
//
//                         the call returns       the innermost finish   the call returns
//                         when it is complete    waits for it           a future
//   one element           rput, rget             async_rput             rput_future, rget_future
//   several elements      copy                   async_copy             copy_future
//
//   const auto there = apgas::allocate<double>(p, 100);
//   const auto elsewhere = apgas::allocate<double>(q, 100);
//   std::vector<double> mine(100, 1.0);
//   apgas::copy(mine, there);                  // from here
//   apgas::rput(2.5, there + 7);
//   apgas::copy(there, mine);                  // to here
//   apgas::copy(there, elsewhere, 100);        // between places
//   assert(apgas::rget(elsewhere + 7) == 2.5);
//
//   apgas::finish([&] {
//     apgas::async_copy(mine, there);
//     apgas::async_rput(3.5, elsewhere);
//   });
//
//   const auto written = apgas::rput_future(4.5, there);
//   written.wait();
//   use(apgas::rget_future(there).get());
//   apgas::copy_future(there, mine).wait();
//
// A write is complete when every task that learns of it through a message, a remote atomic
// operation or the end of a finish can read the new elements; a read is complete when the elements
// are here. Elements are moved as bytes. If a read and a write of the same element overlap in time,
// the read may return any mix of old and new bytes; use remote_atomics.hpp for such elements.
//
// Throws of all: illegal_operation if a pointer is null or stale, if elements are outside of the
// allocation, inside `atomic` or `when`, and outside a task. Nothing was moved then, except that
// copy() between two allocations may have copied a first part. If the home detects the error,
// asynchronous functions report it to the finish or to the future instead.
// Context of all: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: if the memory is directly accessible, about 5 ns and copying the bytes. That is memory of
// the caller's place, of places in the same process, and, in a job that uses UCX, of places on the
// same host. Otherwise a message each way, which the other place serves without a task.
namespace apgas::inline v0 {

// Writes `value` to the element at `to`, and returns when the write is complete.
template <class T>
void rput(const std::type_identity_t<T>& value, global_ptr<T> to) {
  scheduler::fiber& self = sync::suspendable_fiber("rput");
  remote::put(self, "rput", {remote::bytes_at(&value), remote::range_of(to, 1)});
}

// Reads the element at `from` and returns its value.
template <class T>
T rget(global_ptr<T> from) {
  scheduler::fiber& self = sync::suspendable_fiber("rget");
  comm::detail::raw_bytes<sizeof(T)> raw;
  remote::get(self, "rget", {remote::range_of(from, 1), remote::bytes_at(&raw)});
  return __builtin_bit_cast(T, raw);
}

// Writes from.size() elements from a span of this place to `to`.
template <class T>
void copy(std::span<const std::type_identity_t<T>> from, global_ptr<T> to) {
  scheduler::fiber& self = sync::suspendable_fiber("copy");
  remote::put(self, "copy", {remote::bytes_at(from.data()), remote::range_of(to, from.size())});
}

// Reads to.size() elements at `from` into a span of this place.
template <class T>
void copy(global_ptr<T> from, std::span<std::type_identity_t<T>> to) {
  scheduler::fiber& self = sync::suspendable_fiber("copy");
  remote::get(self, "copy", {remote::range_of(from, to.size()), remote::bytes_at(to.data())});
}

// Copies n elements from one allocation to another. Each may be at any place. The ranges must not
// overlap.
template <class T, std::integral N>
void copy(global_ptr<T> from, global_ptr<T> to, N n) {
  scheduler::fiber& self = sync::suspendable_fiber("copy");
  const auto count = static_cast<std::uint64_t>(n);  // a negative n is outside of every allocation
  remote::bulk_copy_between(self, "copy", remote::range_of(from, count),
                            remote::range_of(to, count));
}

// Starts the write of one element, for which the innermost finish waits. `value` is copied before
// the call returns. `site` is where the program made the call, for error messages.
template <class T>
void async_rput(const std::type_identity_t<T>& value, global_ptr<T> to,
                std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_rput");
  remote::async_put(self, "async_rput", {remote::bytes_at(&value), remote::range_of(to, 1)}, site);
}

// Starts copying from.size() elements from a span, for which the innermost finish waits.
// Requires: the span and its elements stay unchanged until that finish has ended.
template <class T>
void async_copy(std::span<const std::type_identity_t<T>> from, global_ptr<T> to,
                std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_copy");
  remote::async_put(self, "async_copy",
                    {remote::bytes_at(from.data()), remote::range_of(to, from.size())}, site);
}

// Starts copying to.size() elements at `from` into a span, for which the innermost finish waits.
// Requires: the span stays valid until that finish has ended, and nothing else accesses it until
// then.
template <class T>
void async_copy(global_ptr<T> from, std::span<std::type_identity_t<T>> to,
                std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("async_copy");
  remote::async_get(self, "async_copy",
                    {remote::range_of(from, to.size()), remote::bytes_at(to.data())}, site);
}

// The same for n elements at `from` and `to` in two allocations, by a task that is spawned for it.
template <class T, std::integral N>
void async_copy(global_ptr<T> from, global_ptr<T> to, N n,
                std::source_location site = std::source_location::current()) {
  async([from, to, n] { copy(from, to, n); }, site);
}

// Starts the write of one element and returns a future that is set when the write is complete. The
// innermost finish waits as well. `value` is copied before the call returns.
template <class T>
future<void> rput_future(const std::type_identity_t<T>& value, global_ptr<T> to,
                         std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("rput_future");
  return remote::put_future(self, "rput_future",
                            {remote::bytes_at(&value), remote::range_of(to, 1)}, site);
}

// Starts the read of the element at `from` and returns a future of its value. The innermost finish
// waits as well.
template <class T>
future<T> rget_future(global_ptr<T> from,
                      std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("rget_future");
  return remote::get_future<T>(self, "rget_future", {remote::range_of(from, 1), nullptr}, site);
}

// Starts copying from.size() elements from a span and returns a future that is set when the copy is
// complete. The innermost finish waits as well.
// Requires: the span and its elements stay unchanged until the future is set.
template <class T>
future<void> copy_future(std::span<const std::type_identity_t<T>> from, global_ptr<T> to,
                         std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("copy_future");
  return remote::put_future(self, "copy_future",
                            {remote::bytes_at(from.data()), remote::range_of(to, from.size())},
                            site);
}

// Starts copying to.size() elements at `from` into a span and returns a future that is set when the
// copy is complete. The innermost finish waits as well.
// Requires: the span stays valid until the future is set, and nothing else accesses it until then.
template <class T>
future<void> copy_future(global_ptr<T> from, std::span<std::type_identity_t<T>> to,
                         std::source_location site = std::source_location::current()) {
  scheduler::fiber& self = sync::suspendable_fiber("copy_future");
  return remote::get_future<void>(
      self, "copy_future", {remote::range_of(from, to.size()), remote::bytes_at(to.data())}, site);
}

// The same for n elements at `from` and `to` in two allocations, by a task that is spawned for it.
template <class T, std::integral N>
future<void> copy_future(global_ptr<T> from, global_ptr<T> to, N n,
                         std::source_location site = std::source_location::current()) {
  return async_future([from, to, n] { copy(from, to, n); }, site);
}

// Writes one element, and then spawns f(args...) as a task at to.home(), where f sees the new value
// (UPC++'s remote completion). The innermost finish waits for the task. `f` and `args` must be
// sendable (at.hpp). Returns when the task is on its way. If the write throws, no task was spawned.
//
//   const auto there = apgas::allocate<double>(p, 100);
//   apgas::rput_notify(2.5, there, [there] { use(*there.local()); });
//   apgas::copy_notify(x, there, [there] { use(*there.local()); });
//
// Throws also: what async_at throws.
// Cost: as rput and async_at. If the memory is not directly accessible, the task is sent when the
// reply to the write has come.
template <class T, class F, class... Args>
void rput_notify(sync::spawn_from<std::type_identity_t<T>> value, global_ptr<T> to, F&& f,
                 Args&&... args) {
  rput(value.value, to);
  async_at({to.home(), value.site}, std::forward<F>(f), std::forward<Args>(args)...);
}

// The same for from.size() elements of a span; it may change as soon as the call has returned.
template <class T, class F, class... Args>
void copy_notify(sync::spawn_from<std::span<const std::type_identity_t<T>>> from, global_ptr<T> to,
                 F&& f, Args&&... args) {
  copy(from.value, to);
  async_at({to.home(), from.site}, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace apgas::inline v0
