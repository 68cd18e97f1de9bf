// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <apgas/base/atomic.hpp>
#include <apgas/places/memory_atomics.hpp>
#include <apgas/places/place_memory.hpp>
#include <apgas/sync/future_state.hpp>
#include <apgas/sync/handoff.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_task.hpp>
#include <apgas/sync/task.hpp>

// An access to memory of another place by messages. The home serves it in its handler, without a
// task; long ones go in pieces, of which a few are under way at a time.
//
//   next_       written by who sends a piece (fetch_add)
//   missing_    written by who sends and who gets an answer
//   failed_     the first answer that is a failure (exchange)
//   failure_, result_   written by that answer, read after the last
//
// Pairs
//   P1  What all answers brought is there for who takes the last.
namespace apgas::inline v0::remote {

// Wire: frame_header::handler of a request is control_memory | one of these.
enum class memory_operation : std::uint8_t { key = 1, put, get, atomic };

// What a function of the public interface asks for.
struct memory_access {
  const char* name = nullptr;  // of the function
  memory_operation operation = memory_operation::put;
  allocation_range range{};
  const std::byte* from = nullptr;  // put: stays until it is over
  std::byte* to = nullptr;          // get: the same
  atomic_request atomic{};
};

class message_access : public sync::pending_call {
 public:
  message_access(const message_access&) = delete;
  message_access& operator=(const message_access&) = delete;

  // Requires: nothing to put or get is longer than the block can be. Context: task; once. It may be
  // over, and this object gone, before it returns.
  void start();

  void on_reply(const comm::inbound_frame& frame) noexcept final;
  sync::finish_core& finish() const noexcept final { return finish_; }

 protected:
  message_access(scheduler::fiber& self, const memory_access& what)
      : what_(what), place_(sync::place_of(self)), finish_(sync::finish_of(self)) {}
  ~message_access() = default;

  // After completed() was called.
  bool failed() const noexcept { return static_cast<bool>(failure_); }
  [[noreturn]] void throw_failure() const {
    throw_access_failure(what_.name, what_.range, failure_);
  }
  void publish_failure(sync::future_core& future, std::source_location site) const noexcept;
  std::uint64_t result() const noexcept { return result_; }

  const memory_access what_;
  sync::place_state& place_;
  sync::finish_core& finish_;

 private:
  // All answers are there. Context: handler, or the task in start(). This object may go in it.
  virtual void completed() noexcept = 0;

  bool send_loot() noexcept;
  void send(std::uint64_t offset, std::uint64_t bytes);
  void take(const comm::inbound_frame& reply) noexcept;
  void answered() noexcept {
    if (missing_.fetch_sub(1, base::acq_rel) == 1) completed();  // P1
  }

  base::atomic<std::uint64_t> next_{0};
  base::atomic<std::uint32_t> missing_{1};  // answers, and the end of start()
  base::atomic<bool> failed_{false};
  access_failure failure_;
  std::uint64_t result_ = 0;
};

// One whose task waits.
class awaited_access final : public message_access {
 public:
  awaited_access(scheduler::fiber& self, const memory_access& what) : message_access(self, what) {}

  // Starts it and returns when it is over: of an atomic the value. Context: task. May suspend.
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

// Waits until another access may be counted. Context: task. May suspend.
void admit_access(scheduler::fiber& self, comm::rank home);

// One that only the finish of its task waits for. Ends itself.
class counted_access final : public message_access, scheduler::external_task {
 public:
  static void start(scheduler::fiber& self, const memory_access& what, std::source_location site);

 private:
  counted_access(scheduler::fiber& self, const memory_access& what, std::source_location site)
      : message_access(self, what), external_task{.next = nullptr, .run = &fail}, site_(site) {}

  void completed() noexcept override;
  static scheduler::task_counter* fail(scheduler::external_task* work, scheduler::fiber& self) noexcept;

  const std::source_location site_;
};

// One that sets a future: of T, what a get brings; of void, nothing. Ends itself; the finish of its
// task waits for it, too.
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

  // Static: it is called before there is an object.
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
