// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/future_core.hpp>

#include <mutex>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/timed_wait.hpp>

namespace apgas::inline v0::sync {
namespace {

struct suspended_waiter : future_waiter {
  scheduler::fiber* self = nullptr;
};

void resume_waiter(future_waiter& w) noexcept {
  scheduler::resume(static_cast<suspended_waiter&>(w).self);
}

}  // namespace

future_core::~future_core() {
  if (failure_ != nullptr) report_if_unobserved(*failure_);
}

void future_core::wait(const scheduler::wait_record& waits_for) noexcept {
  if (ready()) {
    observe();
    scheduler::observe_wait(this);
    return;
  }
  suspended_waiter me;
  me.on_ready = &resume_waiter;
  scheduler::suspend({waits_for.construct, this, waits_for.where, explain},
                     [this, &me](scheduler::fiber* self) {
                       me.self = self;
                       if (!enlist(me)) scheduler::resume(self);
                     });
  scheduler::observe_wait(this);
}

bool future_core::wait_until(const scheduler::wait_record& waits_for, deadline when) {
  if (!ready()) {
    if (when <= scheduler::time_of_task()) return false;
    suspended_waiter me;
    me.on_ready = &resume_waiter;
    const bool served = suspend_until(
        {waits_for.construct, this, waits_for.where, explain}, lock_, when,
        [&](scheduler::fiber* self) {
          me.self = self;
          if (ready()) return false;
          append(me);
          return true;
        },
        [&] { return remove(me); }, [] {});
    if (!served) return false;
  }
  observe();
  scheduler::observe_wait(this);
  return true;
}

scheduler::wait_record future_core::record(const char* construct,
                                           const scheduler::call_site& where) const noexcept {
  return {construct, this, where, explain};
}

void future_core::explain(const scheduler::wait_record& waits_for, scheduler::wait_explainer& to) {
  const auto& core = *static_cast<const future_core*>(waits_for.object);
  if (core.of_promise_) {
    to.describe({.address = &core, .kind = "promise", .made = core.source_.made}, "", -1);
  } else if (core.source_.computed_by != nullptr && !core.ready()) {
    to.needs({&core, "future"}, *core.source_.computed_by, "computes its value",
             scheduler::releaser::this_task);
  }
}

void future_core::wait_for_value(const scheduler::wait_record& waits_for) {
  wait(waits_for);
  if (!has_value()) std::rethrow_exception(failure_->error);
}

void future_core::observe() noexcept {
  if (has_value()) return;
  {
    std::lock_guard guard(lock_);
    observed_ = true;
    if (!ready()) return;
  }
  if (failure_ != nullptr) forget_unobserved(*failure_);
}

bool future_core::enlist(future_waiter& w) noexcept {
  {
    std::lock_guard guard(lock_);
    observed_ = true;
    if (!ready()) {
      append(w);
      return true;
    }
  }
  if (failure_ != nullptr) forget_unobserved(*failure_);
  return false;
}

bool future_core::withdraw(future_waiter& w) noexcept {
  std::lock_guard guard(lock_);
  return remove(w);
}

void future_core::append(future_waiter& w) noexcept {
  w.next = nullptr;
  w.previous = last_;
  w.listed = true;
  (last_ == nullptr ? first_ : last_->next) = &w;
  last_ = &w;
}

bool future_core::remove(future_waiter& w) noexcept {
  if (ready() || !w.listed) return false;  // if ready, the setter has taken the whole list
  (w.previous == nullptr ? first_ : w.previous->next) = w.next;
  (w.next == nullptr ? last_ : w.next->previous) = w.previous;
  w.listed = false;
  return true;
}

bool future_core::claim() noexcept {
  status expected = status::empty;
  return status_.compare_exchange_strong(expected, status::filling, base::acquire,  // P2
                                         base::relaxed);
}

void future_core::abandon() noexcept {
  status_.store(status::empty, base::release);  // P2
}

void future_core::publish_value() noexcept { publish(status::value, nullptr); }

void future_core::publish_error(std::exception_ptr error) noexcept {
  auto why = std::make_unique<failure>();
  why->error = std::move(error);
  publish(status::failed, std::move(why));
}

void future_core::publish_error(std::exception_ptr error, place_state& place,
                                spawn_site site) noexcept {
  auto why = std::make_unique<failure>();
  why->error = std::move(error);
  why->place = &place;
  why->site = std::move(site);
  publish(status::failed, std::move(why));
}

void future_core::publish(status end, std::unique_ptr<failure> why) noexcept {
  future_waiter* waiter = nullptr;
  scheduler::observe_publication(this);
  {
    std::lock_guard guard(lock_);
    APGAS_ASSERT(!ready(), "a future is set once");
    failure_ = std::move(why);
    if (failure_ != nullptr && failure_->place != nullptr && !observed_) list_unobserved(*failure_);
    status_.store(end, base::release);  // P1
    waiter = std::exchange(first_, nullptr);
    last_ = nullptr;
  }
  while (waiter != nullptr) {
    future_waiter& current = *std::exchange(waiter, waiter->next);
    current.on_ready(current);
  }
}

}  // namespace apgas::inline v0::sync
