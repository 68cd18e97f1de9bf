// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/biased_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/scheduler/poll_in_place.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/remote_finish.hpp>

// Calls that wait for the reply of another place.
//
// Wire: the payload of the task frame, after the spawn site, begins with the number of the call.
// The reply frame has that number in `handler`, a returned_credit in `credit` and `finish` (the
// balance), and the value or the exceptions as its payload. For a zero-copy value, which the caller
// reads from the memory of the called place, the payload ends with the number of another call. The
// caller sends an empty reply to that call when it has read the value.
namespace apgas::inline v0::sync {

// A call that waits for its reply.
class pending_call {
 public:
  // Takes the reply, which is kept by frame.keep(). Context: handler; must not run user
  // code.
  virtual void on_reply(const comm::inbound_frame& frame) noexcept = 0;
  // Returns the finish of the task that called.
  virtual finish_core& finish() const noexcept = 0;
  // Returns the object that tasks wait for until the reply has come, as in their wait_record; null:
  // unknown.
  virtual const void* awaited() const noexcept { return nullptr; }
  // Takes the number of the frame (trace::frame_flow()) that is passed to on_reply() next. It is
  // called in a traced run only. Context: handler.
  virtual void reply_comes(std::uint64_t frame) noexcept { static_cast<void>(frame); }

 protected:
  ~pending_call() = default;
};

struct transferred_registration;

// The table of pending calls of one place. The number of a call combines the number of its slot,
// from 1 on, with the number of earlier uses of that slot, so a reply that arrives twice finds no
// call the second time.
class remote_calls {
 public:
  explicit remote_calls(base::lock_owner& owner) noexcept : lock_(owner) {}

  // Adds a call and returns its number. Throws: std::bad_alloc. Context: task.
  APGAS_API std::uint64_t add(pending_call& call);
  // Removes the call with that number and returns it; null if there is none. Context: any thread.
  APGAS_API pending_call* take(std::uint64_t number) noexcept;
  // Calls f(call) if there is a call with that number, which is not taken meanwhile. Context: any
  // thread.
  template <class F>
  void with(std::uint64_t number, F f) {
    const std::lock_guard hold(lock_);
    const auto index = static_cast<std::uint32_t>(number) - 1;
    if (index < slots_.size() && slots_[index].call != nullptr && number_of(index) == number)
      f(*slots_[index].call);
  }
  // Calls f(number, call) for each pending call. No call is added or taken meanwhile. Context: any
  // thread.
  template <class F>
  void for_each(F f) {
    const std::lock_guard hold(lock_);
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].call != nullptr) f(number_of(i), *slots_[i].call);
    }
  }

 private:
  struct slot {
    pending_call* call = nullptr;
    std::uint32_t uses = 0;       // 31 bits
    std::uint32_t next_free = 0;  // number of the next free slot; 0: none
  };

  std::uint64_t number_of(std::uint32_t index) const noexcept {
    return std::uint64_t{slots_[index].uses} << 32 | (index + 1);
  }

  base::biased_lock lock_;
  std::vector<slot> slots_;
  std::uint32_t free_ = 0;
};

// A call whose task suspends until the reply arrives. The destructor tells the sender of a
// zero-copy value that the value has been read. take_registrations() must have been called before.
class suspended_call final : public pending_call {
 public:
  APGAS_API suspended_call(place_state& place, finish_core& finish);
  suspended_call(const suspended_call&) = delete;
  suspended_call& operator=(const suspended_call&) = delete;
  APGAS_API ~suspended_call();

  std::uint64_t number() const noexcept { return number_; }
  // Notes the called place, for reports. Context: the calling task, before wait().
  void goes_to(comm::rank place) noexcept { called_ = place; }

  // Waits until the reply has arrived: for `patience` cycles in place (poll_in_place.hpp), then
  // suspended. In an observed run the task is always suspended, so that a trace has the wait and
  // its end. `what` is as for scheduler::suspend. Context: the calling task, once. May suspend and
  // resume on another worker.
  APGAS_API void wait(std::uint64_t patience = scheduler::patience_cycles,
                      const scheduler::wait_record& what = "at") noexcept;
  // Returns the bytes of the value, or of the failure for rethrow_reply. Requires: wait() returned.
  std::span<const std::byte> value() const noexcept { return reply_.payload; }
  // Returns what became of the caller's registrations at the other place
  // (registration_transfer.hpp) and removes them from the bytes of the value. There are none unless
  // brings_registrations().
  bool brings_registrations() const noexcept {
    return (reply_.header->flags & flag_registered) != 0;
  }
  std::vector<transferred_registration> take_registrations();
  comm::rank from() const noexcept { return reply_.source; }
  bool failed() const noexcept { return (reply_.header->flags & flag_failed) != 0; }

  void on_reply(const comm::inbound_frame& frame) noexcept override;
  finish_core& finish() const noexcept override { return finish_; }
  const void* awaited() const noexcept override { return this; }
  void reply_comes(std::uint64_t frame) noexcept override { reply_frame_ = frame; }
  // For reports, as part of a wait_record with this object: names the called place.
  APGAS_API static void explain(const scheduler::wait_record& waits_for,
                                scheduler::wait_explainer& to);

 private:
  // P1  A task that sees the state `arrived` sees the complete reply.
  static constexpr std::uintptr_t no_waiter = 0;
  static constexpr std::uintptr_t arrived = 1;

  void suspend(const scheduler::wait_record& what) noexcept;
  void acknowledge_read() const noexcept;

  place_state& place_;
  finish_core& finish_;
  const scheduler::fiber* const caller_;
  const std::uint64_t number_;
  comm::rank called_ = -1;
  comm::inbound_frame reply_{};
  std::uint64_t reply_frame_ = 0;                  // in a traced run the number of the reply
  base::atomic<std::uintptr_t> state_{no_waiter};  // or `arrived`, or the fiber that waits
};

// Writes the exception that is being handled to a reply. Context: task, in a catch block.
APGAS_API void save_failure(comm::out_archive& to, const scheduler::fiber& self);
// Throws what such a reply contains: the exception itself, or the multiple_exceptions that it was.
// The second returns it instead. Throws: serialization_error if the reply is malformed. Context:
// task.
APGAS_API [[noreturn]] void rethrow_reply(std::span<const std::byte> value);
std::exception_ptr exception_from_reply(std::span<const std::byte> value);

// This bit in the number of a call says that the caller waits, so that its registrations travel
// with the task and come back with the reply.
inline constexpr std::uint64_t call_of_at = std::uint64_t{1} << 63;

// Sends the reply of call `number` to place `caller`. If `ended`, the task has no children left;
// then its count in `finish` is released, and the credit of this place goes with the reply if that
// was the last count. Context: the task that was called.
APGAS_API void send_reply(place_state& place, comm::rank caller, std::uint64_t number,
                          finish_core& finish, bool ended, bool failed, comm::out_archive& value);

// The same for a zero-copy value. Waits until the caller has read the value. The count of the task
// in `finish` stays. Context: the task that was called. May suspend and resume on another worker.
APGAS_API void send_zero_copy_reply(place_state& place, comm::rank caller, std::uint64_t number,
                                    finish_core& finish, comm::out_archive& value);

}  // namespace apgas::inline v0::sync
