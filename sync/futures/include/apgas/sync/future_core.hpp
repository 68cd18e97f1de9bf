// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/sync/ref_counted.hpp>
#include <apgas/sync/unobserved.hpp>

// What all futures have in common: whether it is there yet, and who waits for it. The value is in
// future_state.hpp.
//
//             claim              publish_value
//   empty ────────────▶ filling ───────────────▶ value
//     ▲                  │   │    publish_error
//     └──────────────────┘   └─────────────────▶ failed
//           abandon
//   Where there is one setter only (a task), publish goes from empty as well.
//
//              written by                     read by
//   status_    the setter; last under lock    anybody
//   failure_   the setter, before it          anybody, after status_
//   waiters    lock holder                    lock holder
//   looked_    lock holder                    lock holder
//
// Invariants
//   I1  value and failed are final, and nobody is enlisted then.
//   I2  The setter holds a reference until publish_... has returned.
//
// Pairs
//   P1  The value or the failure is complete for who reads that the future is ready.
//   P2  What a setter did before it gave up is over for the next that claims.
namespace apgas::inline v0::sync {

// Something to be done when a future is ready. Intrusive, lives until it was called or withdrawn.
struct future_waiter {
  // Context: any thread, once; the waiter may end in it. Runs no user code.
  void (*on_ready)(future_waiter& self) noexcept = nullptr;

  // Guarded by the lock of the future.
  future_waiter* next = nullptr;
  future_waiter* previous = nullptr;
  bool listed = false;
};

class future_core : public ref_counted {
 public:
  ~future_core() override;

  // Context: any thread.
  bool ready() const noexcept { return status_.load(base::acquire) >= status::value; }      // P1
  bool has_value() const noexcept { return status_.load(base::acquire) == status::value; }  // P1

  // Suspends the task until the future is ready, or until `when`; true if it is ready.
  // Context: task that may suspend.
  void wait() noexcept;
  bool wait_until(std::chrono::steady_clock::time_point when);
  // Waits and throws the exception if there is one.
  void wait_for_value();

  // From now on a failure is somebody's who knows of it. Context: any thread.
  void look() noexcept;
  // Looks, and notes w to be called. False: the future is ready, w will not be called.
  [[nodiscard]] bool enlist(future_waiter& w) noexcept;
  // True: w is off the list. False: it was not on it, or it was called or will be.
  [[nodiscard]] bool withdraw(future_waiter& w) noexcept;

  // ---- setter: any thread ---------------------------------------------------------------------
  // The right to set. False: somebody has set it or is at it.
  [[nodiscard]] bool claim() noexcept;
  void abandon() noexcept;
  // Calls whoever waits.
  void publish_value() noexcept;
  void publish_error(std::exception_ptr error) noexcept;
  // The same for a task of `place`: reported unless somebody looks.
  void publish_error(std::exception_ptr error, place_state& place, spawn_site site) noexcept;

 protected:
  future_core() = default;

 private:
  enum class status : std::uint8_t { empty, filling, value, failed };

  void publish(status end, std::unique_ptr<failure> why) noexcept;

  base::atomic<status> status_{status::empty};
  base::spin_lock lock_;
  bool looked_ = false;
  future_waiter* first_ = nullptr;
  future_waiter* last_ = nullptr;
  std::unique_ptr<failure> failure_;
};

}  // namespace apgas::inline v0::sync
