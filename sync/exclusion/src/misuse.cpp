// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <fmt/format.h>

#include <apgas/channel.hpp>
#include <apgas/errors.hpp>
#include <apgas/latch.hpp>
#include <apgas/mutex.hpp>
#include <apgas/semaphore.hpp>

// The error messages of mutex, semaphore, latch and channel.
namespace apgas::inline v0::sync {

void throw_not_locked() {
  throw illegal_operation("mutex::unlock was called while the mutex was not locked; lock it first");
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
