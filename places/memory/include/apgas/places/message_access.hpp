// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/places/memory_atomics.hpp>
#include <apgas/places/place_memory.hpp>
#include <apgas/sync/future_state.hpp>
#include <apgas/sync/handoff.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_task.hpp>
#include <apgas/sync/task.hpp>

// Access to memory of another place by messages. The handler of the home serves it, without a task.
// A long put or get is divided into chunks, a few of which are in flight at a time.
//
//               written by
//   next_       the task or handler that sends a chunk (fetch_add)
//   missing_    tasks and handlers that send a request or receive a reply
//   failed_     the handler of the first reply that reports a failure (exchange)
//   failure_, result_   that handler; read after the last reply
//
// Pairs
//   P1  The thread that takes the last reply sees what all replies brought.
namespace apgas::inline v0::remote {

// Wire: frame_header::handler of a request is control_memory | one of these.
enum class memory_operation : std::uint8_t { key = 1, put, get, atomic };

// What the caller of a public function wants.
struct memory_access {
  const char* name = nullptr;  // of the function; error messages name it
  memory_operation operation = memory_operation::put;
  allocation_range range{};
  const std::byte* from = nullptr;  // put: must remain valid until the access is complete
  std::byte* to = nullptr;          // get: likewise
  atomic_request atomic{};
};

// One access. Derived classes say what its completion does.
class APGAS_API message_access : public sync::pending_call {
 public:
  message_access(const message_access&) = delete;
  message_access& operator=(const message_access&) = delete;

  // Sends the first requests. The access may be complete, and this object deleted, before the call
  // returns.
  // Requires: it was not started before; the range is no longer than an allocation can be.
  // Context: task.
  APGAS_API void start();

  APGAS_API void on_reply(const comm::inbound_frame& frame) noexcept final;
  sync::finish_core& finish() const noexcept final { return finish_; }

 protected:
  message_access(scheduler::fiber& self, const memory_access& what)
      : what_(what), place_(sync::place_of(self)), finish_(sync::finish_of(self)) {}
  ~message_access() = default;

  // Only after completed() was called:
  bool failed() const noexcept { return static_cast<bool>(failure_); }
  [[noreturn]] void throw_failure() const {
    throw_access_failure(what_.name, what_.range, failure_);
  }
  APGAS_API void publish_failure(sync::future_core& future,
                                 std::source_location site) const noexcept;
  std::uint64_t result() const noexcept { return result_; }

  const memory_access what_;
  sync::place_state& place_;
  sync::finish_core& finish_;

 private:
  // Called once, when all replies have come. May delete this object.
  // Context: handler, or the task in start().
  virtual void completed() noexcept = 0;

  bool send_chunk() noexcept;
  void send(std::uint64_t offset, std::uint64_t bytes);
  void take(const comm::inbound_frame& reply) noexcept;
  void answered() noexcept {
    if (missing_.fetch_sub(1, base::acq_rel) == 1) completed();  // P1
  }

  base::atomic<std::uint64_t> next_{0};
  base::atomic<std::uint32_t> missing_{1};  // replies to come, and 1 until start() ends
  base::atomic<bool> failed_{false};
  access_failure failure_;
  std::uint64_t result_ = 0;
};

// An access whose task waits for it.
class awaited_access final : public message_access {
 public:
  awaited_access(scheduler::fiber& self, const memory_access& what) : message_access(self, what) {}

  // Starts the access and returns when it is complete: for an atomic the previous value.
  // Context: task; may suspend.
  // Throws: illegal_operation.
  std::uint64_t run() {
    start();
    over_.wait("memory of another place");
    if (failed()) throw_failure();
    return result();
  }

 private:
  void completed() noexcept override { over_.signal(); }

  sync::handoff over_;
};

// Waits while too many counted accesses are incomplete, or the connection to the home is congested.
// Context: task; may suspend.
APGAS_API void admit_access(scheduler::fiber& self, comm::rank home);

// An access for which the finish of its task waits. Deletes itself.
class APGAS_API counted_access final : public message_access, scheduler::external_task {
 public:
  APGAS_API static void start(scheduler::fiber& self, const memory_access& what,
                              std::source_location site);

 private:
  counted_access(scheduler::fiber& self, const memory_access& what, std::source_location site)
      : message_access(self, what), external_task{.next = nullptr, .run = &fail}, site_(site) {}

  void completed() noexcept override;
  APGAS_API static scheduler::task_counter* fail(scheduler::external_task* work,
                                                 scheduler::fiber& self) noexcept;

  const std::source_location site_;
};

// An access that sets a future: of T to the value that was read, of void when it is complete. The
// finish of its task waits for it, too. Deletes itself.
template <class T>
class future_access final : public message_access {
 public:
  static sync::ref<sync::future_state<T>> start(scheduler::fiber& self, const memory_access& what,
                                                std::source_location site) {
    admit_access(self, what.range.allocation.home);
    auto* const made = new future_access(self, what, site);
    auto state = made->state_;
    made->finish_.add(1);
    place_memory_of(self).unfinished.fetch_add(1, base::relaxed);
    made->message_access::start();
    return state;
  }

 private:
  future_access(scheduler::fiber& self, const memory_access& what, std::source_location site)
      : message_access(self, with_destination(what, value_)), site_(site) {}

  // Static, since it is called before the object exists.
  static memory_access with_destination(memory_access what, std::byte* value) noexcept {
    if constexpr (!std::is_void_v<T>) what.to = value;
    return what;
  }

  void completed() noexcept override {
    if (failed()) {
      publish_failure(*state_, site_);
    } else {
      if constexpr (std::is_void_v<T>) {
        state_->emplace();
      } else {
        state_->emplace(*reinterpret_cast<const T*>(&value_));
      }
      state_->publish_value();
    }
    static_cast<place_memory*>(place_.memory)->unfinished.fetch_sub(1, base::relaxed);
    sync::finish_core& waits = finish_;
    delete this;
    scheduler::release_count(waits);
  }

  const std::source_location site_;
  const sync::ref<sync::future_state<T>> state_ =
      sync::ref<sync::future_state<T>>::adopt(new sync::future_state<T>);
  alignas(sync::kept_value<T>) std::byte value_[sizeof(sync::kept_value<T>)];
};

}  // namespace apgas::inline v0::remote
