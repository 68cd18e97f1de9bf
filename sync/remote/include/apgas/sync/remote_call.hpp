// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/remote_finish.hpp>

// Calls that wait for a reply of another place.
//
// Wire: a task frame whose thunk's payload begins with the number of the call; a reply frame with
// that number as `handler`, a returned_credit in `credit` and `finish` (its balance), and as
// payload the value or the exceptions. A value that is lent has the number of another call behind
// it, whose empty reply says that it was read.
namespace apgas::inline v0::sync {

// Who waits for a reply.
class pending_call {
 public:
  // The reply is kept by retaining frame.owner. Context: handler; must not run user code.
  virtual void on_reply(const comm::inbound_frame& frame) noexcept = 0;
  // The finish of the task that called.
  virtual finish_core& finish() const noexcept = 0;

 protected:
  ~pending_call() = default;
};

struct transferred_registration;

// A number is that of a slot, from 1, and how often the slot was used before: a reply that comes
// twice finds nobody.
class remote_calls {
 public:
  // Throws: std::bad_alloc.
  std::uint64_t add(pending_call& call);
  // Null when nobody waits under that number. Context: handler.
  pending_call* take(std::uint64_t number) noexcept;

 private:
  struct slot {
    pending_call* call = nullptr;
    std::uint32_t uses = 0;       // 31 bits
    std::uint32_t next_free = 0;  // number of a slot; 0: none
  };

  base::spin_lock lock_;
  std::vector<slot> slots_;
  std::uint32_t free_ = 0;
};

// A call whose task waits. Its end tells who lent the value that it was read: by then the
// registrations are taken out.
class suspended_call final : public pending_call {
 public:
  suspended_call(place_state& place, finish_core& finish);
  suspended_call(const suspended_call&) = delete;
  suspended_call& operator=(const suspended_call&) = delete;
  ~suspended_call();

  std::uint64_t number() const noexcept { return number_; }

  // Suspends the task until the reply is there. `what` is for the watchdog. Context: task.
  void wait(const char* what = "at") noexcept;
  // The value, or what rethrow_reply takes.
  std::span<const std::byte> value() const noexcept { return reply_.payload; }
  // What the registrations of the caller became at the other place (registration_transfer.hpp): taken out of the
  // value. Has none unless brings_registrations().
  bool brings_registrations() const noexcept {
    return (reply_.header->flags & flag_registered) != 0;
  }
  std::vector<transferred_registration> take_registrations();
  comm::rank from() const noexcept { return reply_.source; }
  bool failed() const noexcept { return (reply_.header->flags & flag_failed) != 0; }

  void on_reply(const comm::inbound_frame& frame) noexcept override;
  finish_core& finish() const noexcept override { return finish_; }

 private:
  // P1  The reply is complete for the task that sees the state `arrived`.
  static constexpr std::uintptr_t nobody = 0;
  static constexpr std::uintptr_t arrived = 1;

  void acknowledge_read() const noexcept;

  place_state& place_;
  finish_core& finish_;
  const std::uint64_t number_;
  comm::inbound_frame reply_{};
  base::atomic<std::uintptr_t> state_{nobody};  // or the fiber that waits
};

// A reply that reports the exception being handled; and throwing it at the other side: the
// exception itself, or the multiple_exceptions it was. Context of both: task, the first in a catch
// block.
void save_failure(comm::out_archive& to, const scheduler::fiber& self);
[[noreturn]] void rethrow_reply(std::span<const std::byte> value);
std::exception_ptr exception_from_reply(std::span<const std::byte> value);

// A call whose caller waits has this bit in the number that its frame carries: the registrations of
// the task come back to it with the reply.
inline constexpr std::uint64_t call_of_at = std::uint64_t{1} << 63;

// Sends the reply of the call `number` to `caller`. `ended`: the task has no children; then its
// unit of `finish` goes, with the reply if it is the last. Context: the task that was called.
void send_reply(place_state& place, comm::rank caller, std::uint64_t number, finish_core& finish,
                bool ended, bool failed, comm::out_archive& value);

// The same for a value that is lent: waits until it was read. The task's unit of `finish` remains.
void send_zero_copy_reply(place_state& place, comm::rank caller, std::uint64_t number,
                     finish_core& finish, comm::out_archive& value);

}  // namespace apgas::inline v0::sync
