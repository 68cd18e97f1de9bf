// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <utility>

#include <apgas/sync/deadline.hpp>
#include <apgas/sync/full_empty.hpp>
#include <apgas/sync/task.hpp>

namespace apgas::inline v0 {

// A variable that holds a value and a state, full or empty, with operations that wait for a state:
// Chapel's sync variable. The two letters of a name say which state the operation waits for, and
// which state it leaves behind:
//
//   f  full
//   e  empty
//   x  any state; as the second letter, in read_xx: the state that it found
//
//   apgas::sync_var<int> v;               // empty
//   apgas::finish([&] {
//     apgas::async([&] { v.write_ef(1); });
//     use(v.read_fe());                   // waits for the write, and leaves v empty
//   });                                   // v outlives the tasks that use it
//
//   v.write_xf(2);                        // whatever its state
//   v.write_ff(v.read_ff() + 1);          // is full before and after
//   assert(v.is_full() && v.read_xx() == 3);
//   v.reset();                            // empty
//
// A variable belongs to its place: it can be neither copied nor moved, nor sent to another place.
// The operations on one variable take place one after the other, and each sees everything that the
// tasks of the earlier ones wrote before they called them.
//
// An operation waits until the variable has its state and no other operation is copying or moving
// the value. Of the tasks that wait for the same state, the one that came first continues first.
// Operations that accept any state go before those that wait for one.
//
// Throws, all operations but is_full:
//   - illegal_operation outside a task and inside `atomic` or `when`; the variable is unchanged;
//   - what copying or moving a value throws. The state stays as it was, and the value is what the
//     copy or move of T left behind. Other tasks may go on to use the variable;
//   - those with a time limit: std::bad_alloc; the variable is unchanged.
// Context, all operations but is_full: task. May suspend and resume on another worker.
// Cost: an operation that need not wait locks twice and allocates nothing; a hand-over between two
// tasks of a worker takes about 40 ns (docs/performance.md, which names the machine).
//
// The operations that wait for a state also exist with a time limit, as try_..._for(d) and
// try_..._until(t). They wait for at most the duration d, or until the clock of t shows that time;
// if the clock is set back meanwhile, they wait again for the rest. A duration of zero or less does
// not suspend; one of more than a century means for ever. They return an empty optional or false if
// the variable did not have its state in time; a value to be written is destroyed then. An
// operation whose turn comes takes place, even if the time is over by then. If it must wait, it
// also costs an allocation and two short locks of the scheduler.
//
//   const auto soon = std::chrono::steady_clock::now() + 1ms;
//   apgas::sync_var<int> slot;
//   bool written = slot.try_write_ef_for(1, 1ms);
//   written = slot.try_write_ff_for(2, 1ms) && slot.try_write_ff_until(3, soon);
//   std::optional<int> value = slot.try_read_ff_for(1ms);
//   value = slot.try_read_ff_until(soon);
//   value = slot.try_read_fe_for(1ms);
//   written = slot.try_write_ef_until(4, soon);
//   value = slot.try_read_fe_until(soon);
//
// Requires, when it is destroyed: no task waits for it or will use it. A task whose own operation
// has returned may destroy it, even if the operation before that one, such as the write of the
// value that was read, has not yet returned in its task.
template <class T>
class sync_var {
 public:
  // Makes an empty variable. Throws nothing. Context: any thread, also outside apgas::run.
  sync_var() noexcept : turn_(state::empty) {}
  // Makes a full variable. Throws: what moving the value throws. Context: as above.
  explicit sync_var(T value) : turn_(state::full), value_(std::move(value)) {}

  // Waits until the variable is full, takes and returns its value, and leaves it empty.
  T read_fe(scheduler::call_site where = scheduler::call_site::current()) {
    const turn mine(*this, {"sync_var::read_fe", this, where}, want::full);
    T value = std::move(*value_);
    mine.leave(state::empty);
    return value;
  }

  // The same with a time limit.
  template <class Rep, class Period>
  std::optional<T> try_read_fe_for(const std::chrono::duration<Rep, Period>& limit,
                                   scheduler::call_site where = scheduler::call_site::current()) {
    return take_within({"sync_var::try_read_fe_for", this, where}, limit);
  }
  template <class Clock, class Duration>
  std::optional<T> try_read_fe_until(const std::chrono::time_point<Clock, Duration>& limit,
                                     scheduler::call_site where = scheduler::call_site::current()) {
    return take_within({"sync_var::try_read_fe_until", this, where}, limit);
  }

  // Waits until the variable is full, returns a copy of the value and leaves it full.
  T read_ff(scheduler::call_site where = scheduler::call_site::current())
    requires std::copy_constructible<T>
  {
    const turn mine(*this, {"sync_var::read_ff", this, where}, want::full);
    return *value_;
  }

  // The same with a time limit.
  template <class Rep, class Period>
  std::optional<T> try_read_ff_for(const std::chrono::duration<Rep, Period>& limit,
                                   scheduler::call_site where = scheduler::call_site::current())
    requires std::copy_constructible<T>
  {
    return copy_within({"sync_var::try_read_ff_for", this, where}, limit);
  }
  template <class Clock, class Duration>
  std::optional<T> try_read_ff_until(const std::chrono::time_point<Clock, Duration>& limit,
                                     scheduler::call_site where = scheduler::call_site::current())
    requires std::copy_constructible<T>
  {
    return copy_within({"sync_var::try_read_ff_until", this, where}, limit);
  }

  // Returns a copy of the value without waiting for a state: if the variable is empty, the last
  // value it had, which is T{} before the first write. A value that read_fe took has been moved
  // from.
  T read_xx(scheduler::call_site where = scheduler::call_site::current())
    requires std::copy_constructible<T> && std::default_initializable<T>
  {
    const turn mine(*this, {"sync_var::read_xx", this, where}, want::either);
    return value_ ? *value_ : T{};
  }

  // Waits until the variable is empty, writes the value and leaves it full.
  void write_ef(T value, scheduler::call_site where = scheduler::call_site::current()) {
    write({"sync_var::write_ef", this, where}, want::empty, std::move(value));
  }

  // The same with a time limit; returns whether it wrote the value.
  template <class Rep, class Period>
  [[nodiscard]] bool try_write_ef_for(
      T value, const std::chrono::duration<Rep, Period>& limit,
      scheduler::call_site where = scheduler::call_site::current()) {
    return write_within({"sync_var::try_write_ef_for", this, where}, want::empty, std::move(value),
                        limit);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_write_ef_until(
      T value, const std::chrono::time_point<Clock, Duration>& limit,
      scheduler::call_site where = scheduler::call_site::current()) {
    return write_within({"sync_var::try_write_ef_until", this, where}, want::empty,
                        std::move(value), limit);
  }

  // Waits until the variable is full, overwrites the value and leaves it full.
  void write_ff(T value, scheduler::call_site where = scheduler::call_site::current()) {
    write({"sync_var::write_ff", this, where}, want::full, std::move(value));
  }

  // The same with a time limit; returns whether it wrote the value.
  template <class Rep, class Period>
  [[nodiscard]] bool try_write_ff_for(
      T value, const std::chrono::duration<Rep, Period>& limit,
      scheduler::call_site where = scheduler::call_site::current()) {
    return write_within({"sync_var::try_write_ff_for", this, where}, want::full, std::move(value),
                        limit);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_write_ff_until(
      T value, const std::chrono::time_point<Clock, Duration>& limit,
      scheduler::call_site where = scheduler::call_site::current()) {
    return write_within({"sync_var::try_write_ff_until", this, where}, want::full, std::move(value),
                        limit);
  }

  // Writes the value whatever the state, and leaves the variable full.
  void write_xf(T value, scheduler::call_site where = scheduler::call_site::current()) {
    write({"sync_var::write_xf", this, where}, want::either, std::move(value));
  }

  // Makes the value T{} whatever the state, and leaves the variable empty.
  void reset(scheduler::call_site where = scheduler::call_site::current()) {
    const turn mine(*this, {"sync_var::reset", this, where}, want::either);
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
    turn(sync_var& v, const scheduler::wait_record& operation, want w) : turn_(v.turn_) {
      sync::suspendable_fiber(operation.construct);
      left_ = turn_.acquire(operation, w);
    }
    // A use that acquire_within() has begun.
    turn(sync_var& v, state found) noexcept : turn_(v.turn_), left_(found) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { turn_.release(left_); }
    void leave(state s) const noexcept { left_ = s; }

   private:
    sync::full_empty& turn_;
    mutable state left_;
  };

  void write(const scheduler::wait_record& operation, want w, T&& value) {
    const turn mine(*this, operation, w);
    value_ = std::move(value);
    mine.leave(state::full);
  }

  // Acquires the variable within a duration or until a time point; nullopt if that takes longer.
  template <class Rep, class Period>
  std::optional<state> acquire_within(const scheduler::wait_record& operation, want w,
                                      const std::chrono::duration<Rep, Period>& d) {
    sync::suspendable_fiber(operation.construct);
    return turn_.acquire_until(operation, w, sync::deadline_in(d));
  }
  template <class Clock, class Duration>
  std::optional<state> acquire_within(const scheduler::wait_record& operation, want w,
                                      const std::chrono::time_point<Clock, Duration>& t) {
    sync::suspendable_fiber(operation.construct);
    std::optional<state> found;
    sync::attempt_until(t, [&](sync::deadline when) {
      found = turn_.acquire_until(operation, w, when);
      return found.has_value();
    });
    return found;
  }

  template <class Limit>
  std::optional<T> take_within(const scheduler::wait_record& operation, const Limit& limit) {
    const std::optional<state> found = acquire_within(operation, want::full, limit);
    if (!found) return std::nullopt;
    const turn mine(*this, *found);
    std::optional<T> value(std::in_place, std::move(*value_));
    mine.leave(state::empty);
    return value;
  }

  template <class Limit>
  std::optional<T> copy_within(const scheduler::wait_record& operation, const Limit& limit) {
    const std::optional<state> found = acquire_within(operation, want::full, limit);
    if (!found) return std::nullopt;
    const turn mine(*this, *found);
    return std::optional<T>(std::in_place, *value_);
  }

  template <class Limit>
  bool write_within(const scheduler::wait_record& operation, want w, T&& value,
                    const Limit& limit) {
    const std::optional<state> found = acquire_within(operation, w, limit);
    if (!found) return false;
    const turn mine(*this, *found);
    value_ = std::move(value);
    mine.leave(state::full);
    return true;
  }

  sync::full_empty turn_;
  std::optional<T> value_;
};

}  // namespace apgas::inline v0
