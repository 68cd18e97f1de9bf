// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <fmt/format.h>

#include <apgas/promise.hpp>
#include <apgas/worker_local.hpp>

// The error messages of futures, promises and worker_local.
namespace apgas::inline v0::sync {

void throw_no_state(const char* operation) {
  throw illegal_operation(fmt::format(
      "{} was called on an empty handle: default-constructed or moved from; assign one from "
      "async_future, promise::get_future or another handle first",
      operation));
}

void throw_already_set() {
  throw illegal_operation(
      "a promise was set although its future is set already; set it once, through one of its "
      "copies");
}

std::exception_ptr no_promise_left() {
  return std::make_exception_ptr(
      broken_promise("the last promise of a future was destroyed without setting it; call "
                     "set_value or set_exception first"));
}

void throw_other_workers() {
  throw illegal_operation(
      "a worker_local was used by a task of another place; make one at each place");
}

}  // namespace apgas::inline v0::sync
