// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <fmt/format.h>

#include <apgas/channel.hpp>
#include <apgas/condition_variable.hpp>
#include <apgas/errors.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/shared_mutex.hpp>

// The error messages of the constructs of this room.
namespace apgas::inline v0::sync {

void throw_not_locked() {
  throw illegal_operation("mutex::unlock was called while the mutex was not locked; lock it first");
}

void throw_lock_not_owned(const char* operation) {
  throw illegal_operation(
      fmt::format("{} was given a lock that does not own its mutex; lock it first", operation));
}

void throw_not_exclusive() {
  throw illegal_operation(
      "shared_mutex::unlock was called while no task held the mutex exclusively; release a shared "
      "mutex with unlock_shared");
}

void throw_not_shared() {
  throw illegal_operation(
      "shared_mutex::unlock_shared was called while no task shared the mutex; release an exclusive "
      "lock with unlock");
}

void throw_negative(const char* operation, std::ptrdiff_t given) {
  throw illegal_operation(
      fmt::format("{} was given {}; give zero or a positive number", operation, given));
}

void throw_latch_below_zero(std::ptrdiff_t left, std::ptrdiff_t given) {
  throw illegal_operation(fmt::format(
      "latch::count_down was given {} when {} were left; make the latch with the number "
      "of all arrivals",
      given, left));
}

void throw_no_capacity(std::ptrdiff_t given) {
  throw illegal_operation(
      fmt::format("channel was given a capacity of {}; give at least 1", given));
}

void throw_channel_closed() {
  throw illegal_operation(
      "channel::send found the channel closed; close it after the last send, when all senders are "
      "done");
}

}  // namespace apgas::inline v0::sync
