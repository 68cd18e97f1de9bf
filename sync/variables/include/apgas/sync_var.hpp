// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include <apgas/sync/full_empty.hpp>
#include <apgas/sync/task.hpp>

namespace apgas::inline v0 {

// Chapel's sync variable: a value that is full or empty. The names say what an operation waits for
// and what it leaves: f full, e empty, x no matter. Tasks that wait for the same state are served
// first come first served; one that waits for neither state waits for no other task's action.
//
// Context of all operations but is_full: task, not inside an atomic section (illegal_operation).
// They may suspend and resume elsewhere. Belongs to a place. Requires at its end: nobody waits.
// Cost: about 12 ns when nothing has to be waited for.
template <class T>
class sync_var {
 public:
  // Empty.
  sync_var() noexcept : turn_(state::empty) {}
  // Full.
  explicit sync_var(T value) : turn_(state::full), value_(std::move(value)) {}

  // Waits until full, takes the value, leaves empty.
  T read_fe() {
    const turn mine(*this, "sync_var::read_fe", want::full);
    T value = std::move(*value_);
    mine.leave(state::empty);
    return value;
  }

  // Waits until full, copies the value.
  T read_ff()
    requires std::copy_constructible<T>
  {
    const turn mine(*this, "sync_var::read_ff", want::full);
    return *value_;
  }

  // Copies the value as it is: what was there last when empty, T{} before the first write.
  T read_xx()
    requires std::copy_constructible<T> && std::default_initializable<T>
  {
    const turn mine(*this, "sync_var::read_xx", want::either);
    return value_ ? *value_ : T{};
  }

  // Waits until empty, writes, leaves full.
  void write_ef(T value) { write("sync_var::write_ef", want::empty, std::move(value)); }

  // Waits until full, overwrites, leaves full.
  void write_ff(T value) { write("sync_var::write_ff", want::full, std::move(value)); }

  // Overwrites and leaves full.
  void write_xf(T value) { write("sync_var::write_xf", want::either, std::move(value)); }

  // Makes the value T{} and leaves empty.
  void reset() {
    const turn mine(*this, "sync_var::reset", want::either);
    value_.reset();
    mine.leave(state::empty);
  }

  // Context: any thread.
  [[nodiscard]] bool is_full() noexcept { return turn_.is_full(); }

 private:
  using state = sync::full_empty::state;
  using want = sync::full_empty::want;

  // The variable is ours; released in the state found unless another was asked for, also when
  // copying the value throws.
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
