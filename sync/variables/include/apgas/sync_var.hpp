// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include <apgas/sync/full_empty.hpp>
#include <apgas/sync/task.hpp>

namespace apgas::inline v0 {

// A variable that is full or empty, with operations that wait for one of these states: Chapel's
// sync variable. The two letters of a name say which state the operation waits for and which state
// it leaves behind: f is full, e is empty, x is any. Tasks that wait for the same state are served
// first come first served. An operation that waits for no state can be delayed only while another
// one copies or moves the value. A variable belongs to its place and cannot be sent to another.
//
//   apgas::sync_var<int> v;               // empty
//   apgas::async([&] { v.write_ef(1); });
//   int x = v.read_fe();                  // waits for the write, and leaves v empty
//
// Throws, all operations but is_full: illegal_operation outside a task and inside a critical
// section; what copying or moving a value throws, and then the state stays as it was.
// Context, all operations but is_full: task. May suspend and resume on another worker.
// Cost: about 12 ns if the operation need not wait.
// Requires, when it is destroyed: no task waits for it.
template <class T>
class sync_var {
 public:
  // Makes an empty variable.
  sync_var() noexcept : turn_(state::empty) {}
  // Makes a full variable.
  explicit sync_var(T value) : turn_(state::full), value_(std::move(value)) {}

  // Waits until the variable is full, takes the value and leaves it empty.
  T read_fe() {
    const turn mine(*this, "sync_var::read_fe", want::full);
    T value = std::move(*value_);
    mine.leave(state::empty);
    return value;
  }

  // Waits until the variable is full, returns a copy of the value and leaves it full.
  T read_ff()
    requires std::copy_constructible<T>
  {
    const turn mine(*this, "sync_var::read_ff", want::full);
    return *value_;
  }

  // Returns a copy of the value without waiting for a state: if the variable is empty, the last
  // value it had, which is T{} before the first write. A value that read_fe took has been moved
  // from.
  T read_xx()
    requires std::copy_constructible<T> && std::default_initializable<T>
  {
    const turn mine(*this, "sync_var::read_xx", want::either);
    return value_ ? *value_ : T{};
  }

  // Waits until the variable is empty, writes the value and leaves it full.
  void write_ef(T value) { write("sync_var::write_ef", want::empty, std::move(value)); }

  // Waits until the variable is full, overwrites the value and leaves it full.
  void write_ff(T value) { write("sync_var::write_ff", want::full, std::move(value)); }

  // Writes the value whatever the state, and leaves the variable full.
  void write_xf(T value) { write("sync_var::write_xf", want::either, std::move(value)); }

  // Makes the value T{} whatever the state, and leaves the variable empty.
  void reset() {
    const turn mine(*this, "sync_var::reset", want::either);
    value_.reset();
    mine.leave(state::empty);
  }

  // Returns whether the variable is full; while an operation runs, whether it was before. Another
  // task may change that at any time. Context: any thread; does not suspend.
  [[nodiscard]] bool is_full() noexcept { return turn_.is_full(); }

 private:
  using state = sync::full_empty::state;
  using want = sync::full_empty::want;

  // The exclusive use of the variable by one operation. The destructor releases the variable in the
  // state chosen by leave(), or in the state found if an exception came first.
  class turn {
   public:
    turn(sync_var& v, const char* operation, want w) : turn_(v.turn_) {
      sync::suspendable_fiber(operation);
      left_ = turn_.acquire(w);
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { turn_.release(left_); }
    void leave(state s) const noexcept { left_ = s; }

   private:
    sync::full_empty& turn_;
    mutable state left_;
  };

  void write(const char* operation, want w, T&& value) {
    const turn mine(*this, operation, w);
    value_ = std::move(value);
    mine.leave(state::full);
  }

  sync::full_empty turn_;
  std::optional<T> value_;
};

}  // namespace apgas::inline v0
