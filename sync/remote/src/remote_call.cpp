// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/remote_call.hpp>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/registration_transfer.hpp>

#include "failures.hpp"
#include "wire_exceptions.hpp"

namespace apgas::inline v0::sync {

std::uint64_t remote_calls::add(pending_call& call) {
  std::lock_guard guard(lock_);
  if (free_ == 0) {
    slots_.emplace_back();
    free_ = static_cast<std::uint32_t>(slots_.size());
  }
  slot& s = slots_[free_ - 1];
  s.call = &call;
  const std::uint64_t number = number_of(free_ - 1);
  free_ = s.next_free;
  return number;
}

pending_call* remote_calls::take(std::uint64_t number) noexcept {
  std::lock_guard guard(lock_);
  const auto index = static_cast<std::uint32_t>(number);
  if (index == 0 || index > slots_.size()) return nullptr;
  slot& s = slots_[index - 1];
  if (s.call == nullptr || s.uses != number >> 32) return nullptr;
  s.uses = (s.uses + 1) & INT32_MAX;  // bit 63 of a number is call_of_at
  s.next_free = std::exchange(free_, index);
  return std::exchange(s.call, nullptr);
}

suspended_call::suspended_call(place_state& place, finish_core& finish)
    : place_(place),
      finish_(finish),
      caller_(scheduler::current_fiber()),
      number_(place.calls->add(*this)) {}

suspended_call::~suspended_call() {
  if (reply_.owner != nullptr) {
    if ((reply_.header->flags & flag_zero_copy) != 0) acknowledge_read();
    reply_.owner->release();
  } else {
    static_cast<void>(place_.calls->take(number_));  // it could not be sent
  }
}

void suspended_call::explain(const scheduler::wait_record& waits_for,
                             scheduler::wait_explainer& to) {
  const auto& call = *static_cast<const suspended_call*>(waits_for.object);
  to.describe({.address = &call, .kind = "call", .place = call.called_}, "", -1);
}

void suspended_call::wait(std::uint64_t patience, const scheduler::wait_record& what) noexcept {
  const auto is_here = [this] { return state_.load(base::acquire) == arrived; };  // P1
  if (!scheduler::wait_in_place(is_here, patience)) return suspend(what);
  if (!scheduler::is_observed()) return;
  suspend(what);
  scheduler::observe_wait(this);
}

void suspended_call::suspend(const scheduler::wait_record& what) noexcept {
  scheduler::suspend(what, [this](scheduler::fiber* self) {
    std::uintptr_t expected = no_waiter;
    if (!state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(self),
                                        base::acq_rel, base::acquire)) {  // P1
      scheduler::resume(self, reply_frame_);
    }
  });
}

void suspended_call::on_reply(const comm::inbound_frame& frame) noexcept {
  frame.keep();
  reply_ = frame;
  if (scheduler::current_fiber() == caller_) {  // the task waits in place, and polls itself
    state_.store(arrived, base::relaxed);
    return;
  }
  const std::uintptr_t waiter = state_.exchange(arrived, base::acq_rel);  // P1
  if (waiter != no_waiter) scheduler::resume(reinterpret_cast<scheduler::fiber*>(waiter));
}

void suspended_call::acknowledge_read() const noexcept {
  std::uint64_t number = 0;
  APGAS_ASSERT(reply_.payload.size() >= sizeof number,
               "a reply with a zero-copy value is too short");
  const std::size_t value_bytes = reply_.payload.size() - sizeof number;
  std::memcpy(&number, reply_.payload.data() + value_bytes, sizeof number);
  place_.endpoint->send(from(), {.kind = comm::frame_kind::reply, .handler = number},
                        std::span<const std::byte>{});
  place_.task_scheduler->keep_polling();
}

std::vector<transferred_registration> suspended_call::take_registrations() {
  return take_transferred(reply_.payload);
}

void save_failure(comm::out_archive& to, const scheduler::fiber& self) {
  bool several = true;
  try {
    throw;
  } catch (const multiple_exceptions&) {
    several = true;
  } catch (...) {
    several = false;
  }
  std::vector<task_exception> exceptions;
  collect_current(exceptions, place_id_of(self), site_of(self.task));
  to(several);
  save_exceptions(to, exceptions);
}

std::exception_ptr exception_from_reply(std::span<const std::byte> value) {
  comm::in_archive from(value);
  const bool several = from.read<bool>();
  std::vector<task_exception> exceptions;
  load_exceptions(from, exceptions);
  from.expect_end();
  if (several) return std::make_exception_ptr(multiple_exceptions(std::move(exceptions)));
  if (exceptions.size() != 1) {
    throw serialization_error(
        fmt::format("the reply of an `at` that failed holds {} exceptions where one is expected",
                    exceptions.size()));
  }
  return exceptions.front().exception();
}

void rethrow_reply(std::span<const std::byte> value) {
  std::rethrow_exception(exception_from_reply(value));
}

namespace {

void send_value(place_state& place, comm::rank caller, std::uint64_t number,
                comm::frame_header header, comm::out_archive& value) noexcept {
  header.kind = comm::frame_kind::reply;
  header.handler = number & ~call_of_at;
  if ((number & call_of_at) != 0 && give_back_registrations(*scheduler::current_fiber(), value)) {
    header.flags |= flag_registered;
  }
  place.endpoint->send(caller, header, std::move(value));
  place.task_scheduler->keep_polling();
}

}  // namespace

void send_reply(place_state& place, comm::rank caller, std::uint64_t number, finish_core& finish,
                bool ended, bool failed, comm::out_archive& value) {
  comm::frame_header header;
  if (failed) header.flags |= flag_failed;
  if (ended) {
    const returned_credit credit = place.finishes->give_back_with_reply(finish);
    header.credit = credit.low;
    header.finish = static_cast<std::uint64_t>(credit.balance);
  }
  send_value(place, caller, number, header, value);
}

void send_zero_copy_reply(place_state& place, comm::rank caller, std::uint64_t number,
                          finish_core& finish, comm::out_archive& value) {
  suspended_call reading(place, finish);
  value(reading.number());
  send_value(place, caller, number, {.flags = flag_zero_copy}, value);
  reading.wait(scheduler::reading_patience_cycles, "the caller to read the result of an at");
}

}  // namespace apgas::inline v0::sync
