// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>

#include <apgas/comm/archive.hpp>
#include <apgas/future.hpp>
#include <apgas/places/serialization_time.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/task.hpp>

// A call to another place whose reply sets a future; no task is suspended meanwhile.
namespace apgas::inline v0::remote {

// One such call. It exists from the call until its reply has been read, holds a pending count of
// the caller's finish for that time, and deletes itself. The reply is read by a task, not by the
// message handler, because that runs user code.
template <class Result>
class remote_future final : public sync::pending_call, scheduler::external_task {
 public:
  // Context: the calling task.
  remote_future(scheduler::fiber& self, std::source_location site)
      : external_task{.next = nullptr, .run = &set_future},
        place_(sync::place_of(self)),
        finish_(sync::finish_of(self)),
        site_(site),
        state_(sync::ref<sync::future_state<Result>>::adopt(new sync::future_state<Result>)),
        number_(place_.calls->add(*this)) {
    finish_.add(1);
  }

  std::uint64_t number() const noexcept { return number_; }
  future<Result> get_future() const { return sync::future_access::make(state_); }

  // Ends the call without a reply, because it could not be sent.
  // Context: the calling task.
  void cancel() noexcept {
    static_cast<void>(place_.calls->take(number_));
    scheduler::release_count(finish_);
    delete this;
  }

  void on_reply(const comm::inbound_frame& frame) noexcept override {
    frame.keep();
    reply_ = frame;
    place_.task_scheduler->submit_from_poll(this);
  }
  sync::finish_core& finish() const noexcept override { return finish_; }
  const void* awaited() const noexcept override {
    return static_cast<const sync::future_core*>(&*state_);
  }

 private:
  static scheduler::task_counter* set_future(scheduler::external_task* work,
                                             scheduler::fiber& self) noexcept {
    const std::unique_ptr<remote_future> call(static_cast<remote_future*>(work));
    self.task.finish = &call->finish_;
    self.task.site = call->site_;
    try {
      if ((call->reply_.header->flags & sync::flag_failed) != 0) {
        sync::rethrow_reply(call->reply_.payload);
      }
      if constexpr (std::is_void_v<Result>) {
        call->state_->emplace();
      } else {
        const serialization_time<is_bytes<Result>> timed;
        comm::in_archive in(call->reply_.payload);
        call->state_->emplace(in.read<Result>());
      }
    } catch (...) {
      call->reply_.owner->release();
      sync::publish_caught(*call->state_, self);
      return &call->finish_;
    }
    call->reply_.owner->release();
    call->state_->publish_value();
    return &call->finish_;
  }

  sync::place_state& place_;
  sync::finish_core& finish_;
  const std::source_location site_;
  const sync::ref<sync::future_state<Result>> state_;
  comm::inbound_frame reply_{};
  const std::uint64_t number_;  // last: a reply may come as soon as it has a number
};

}  // namespace apgas::inline v0::remote
