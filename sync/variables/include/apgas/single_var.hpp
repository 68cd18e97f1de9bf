// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <apgas/future.hpp>
#include <apgas/promise.hpp>

namespace apgas::inline v0 {

namespace sync {

[[noreturn]] void throw_written_twice();

}  // namespace sync

// Chapel's single variable: written once, read by any number of tasks, which wait for the value.
// Belongs to a place. Requires at its end: nobody waits.
template <class T>
class single_var {
 public:
  single_var() = default;
  single_var(const single_var&) = delete;
  single_var& operator=(const single_var&) = delete;

  // Throws: illegal_operation when it is full. Context: as promise::set_value.
  void write_ef(T value) {
    if (written_.exchange(true, base::relaxed)) sync::throw_written_twice();
    promise_.set_value(std::move(value));
  }

  // The value lives as long as the variable.
  // Throws: illegal_operation outside a task and inside an atomic section.
  // Context: task. May suspend and resume elsewhere.
  const T& read_ff() const {
    sync::suspendable_fiber("single_var::read_ff");
    return value_.get();
  }

  // Context: any thread.
  [[nodiscard]] bool is_full() const noexcept { return value_.ready(); }

 private:
  base::atomic<bool> written_{false};
  promise<T> promise_;
  future<T> value_ = promise_.get_future();
};

}  // namespace apgas::inline v0
