// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/deadline.hpp>
#include <apgas/sync/ref_counted.hpp>
#include <apgas/sync/unobserved.hpp>

// The part of a future that does not depend on its type: whether it is ready, and which tasks
// wait for it.
// The value is in future_state.hpp.
//
//             claim              publish_value
//   empty ────────────▶ filling ───────────────▶ value
//     ▲                  │   │    publish_error
//     └──────────────────┘   └─────────────────▶ failed
//           abandon
//   A future with a single setter (a task) skips `filling`: it is published from `empty`.
//
//               written by                                read by
//   status_     the setter; the last time under lock_     any thread
//   failure_    the setter, before status_                any thread that has seen `failed`
//   first_...   the holder of lock_                       the holder of lock_
//   observed_   the holder of lock_                       the holder of lock_
//
// Invariants
//   I1  `value` and `failed` are final, and no waiter is in the list then.
//   I2  The setter holds a reference until publish_value() or publish_error() has returned.
//
// Pairs
//   P1  A thread that sees the future ready sees the complete value or failure.
//   P2  A setter that claims the future sees what a setter did that abandoned it before.
namespace apgas::inline v0::sync {

// Something to do when a future is ready. It is an intrusive list entry, and lives until it has
// been called or withdrawn.
struct future_waiter {
  // Called once. The waiter may be destroyed in the call. Context: any thread; must not run user
  // code.
  void (*on_ready)(future_waiter& self) noexcept = nullptr;

  // Guarded by the lock of the future.
  future_waiter* next = nullptr;
  future_waiter* previous = nullptr;
  bool listed = false;
};

class APGAS_API future_core : public ref_counted {
 public:
  APGAS_API ~future_core() override;

  // These tell whether the future has a value or has failed, and whether it has a value.
  // Context: any thread.
  bool ready() const noexcept { return status_.load(base::acquire) >= status::value; }      // P1
  bool has_value() const noexcept { return status_.load(base::acquire) == status::value; }  // P1

  // Suspends the task until the future is ready, and observes it.
  // `waits_for` is as for scheduler::suspend; the function adds the object.
  // Context: task that may suspend; may resume on another worker.
  APGAS_API void wait(const scheduler::wait_record& waits_for) noexcept;
  // The same until `when` at the latest. Returns whether the future is ready; if not, the task has
  // not observed it. Throws: std::bad_alloc.
  APGAS_API bool wait_until(const scheduler::wait_record& waits_for, deadline when);
  // Waits until the future is ready, and throws its exception if it failed.
  APGAS_API void wait_for_value(const scheduler::wait_record& waits_for);

  // Says that the running task computes the value, for the watchdog. Context: that task.
  void computed_by(const scheduler::fiber& self) noexcept { source_.computed_by = &self; }

  // Observes the future: a failure is no longer reported at the end. Context: any thread.
  void observe() noexcept;
  // Observes the future, and adds w to the waiters, which are called when it is ready. Returns
  // false if it is ready already; then w is not called. Context: any thread.
  [[nodiscard]] bool enlist(future_waiter& w) noexcept;
  // Removes w and returns true. Returns false if w is not in the list, because it was never added
  // or because it has been called or is about to be. Context: any thread.
  [[nodiscard]] bool withdraw(future_waiter& w) noexcept;

  // ---- called by setters; Context: any thread ---------------------------------------------------
  // Acquires the right to set the future. Returns false if another setter has it or has used it.
  APGAS_API [[nodiscard]] bool claim() noexcept;
  // Gives the right up without having set the future.
  APGAS_API void abandon() noexcept;
  // What reports show for a task that waits in `construct`, a static text, for this future.
  APGAS_API scheduler::wait_record record(const char* construct,
                                          const scheduler::call_site& where) const noexcept;

  // Sets the future and calls the waiters.
  APGAS_API void publish_value() noexcept;
  APGAS_API void publish_error(std::exception_ptr error) noexcept;
  // The same for a task of `place`. The failure is reported unless some task observes the future.
  APGAS_API void publish_error(std::exception_ptr error, place_state& place,
                               spawn_site site) noexcept;

 protected:
  future_core() = default;
  // The state of a promise that was made there.
  explicit future_core(const scheduler::call_site& made) noexcept
      : of_promise_(true), source_(made) {}

 private:
  enum class status : std::uint8_t { empty, filling, value, failed };

  // Adds a waiter to the list, and removes it. Requires: lock_ is held.
  void append(future_waiter& w) noexcept;
  bool remove(future_waiter& w) noexcept;
  void publish(status end, std::unique_ptr<failure> why) noexcept;
  static void explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to);

  base::atomic<status> status_{status::empty};
  base::spin_lock lock_;
  bool observed_ = false;
  const bool of_promise_ = false;
  future_waiter* first_ = nullptr;
  future_waiter* last_ = nullptr;
  std::unique_ptr<failure> failure_;
  // For reports: where the promise was made; else the task, null before it has started.
  union source {
    source() noexcept : computed_by(nullptr) {}
    explicit source(const scheduler::call_site& where) noexcept : made(where) {}
    const scheduler::fiber* computed_by;
    scheduler::call_site made;
  } source_;
};

}  // namespace apgas::inline v0::sync
