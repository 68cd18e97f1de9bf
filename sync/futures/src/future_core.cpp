// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/future_core.hpp>

#include <mutex>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/handoff.hpp>

namespace apgas::inline v0::sync {
namespace {

struct suspended_waiter : future_waiter {
  scheduler::fiber* self = nullptr;
};

// A wait that ends at a given time at the latest. The task, the timer and the list of the future
// each hold a reference until it is certain that they will not call the waiter any more.
// NOLINTNEXTLINE(misc-multiple-inheritance): one base for each of the three
class timed_waiter final : public ref_counted, scheduler::external_task, future_waiter {
 public:
  timed_waiter() {
    run = [](scheduler::external_task* timer,
             scheduler::fiber&) noexcept -> scheduler::task_counter* {
      static_cast<timed_waiter*>(timer)->end();
      return nullptr;
    };
    on_ready = [](future_waiter& w) noexcept { static_cast<timed_waiter&>(w).end(); };
  }

  // Waits until the future is ready or `when` is reached. Context: task, once.
  void wait(future_core& awaited, std::chrono::steady_clock::time_point when) {
    scheduler::scheduler& home = *scheduler::current_fiber()->on->home;
    auto for_timer = ref<timed_waiter>::share(this);
    home.submit_at(when, this);
    static_cast<void>(for_timer.release());
    retain();
    const bool enlisted = awaited.enlist(*this);
    if (enlisted) event_.wait("future::wait_for");
    if (!enlisted || awaited.withdraw(*this)) drop();
    if (home.cancel_at(when, this)) drop();
  }

 private:
  void end() noexcept {
    if (!ended_.exchange(true, base::relaxed)) event_.signal();
    drop();
  }

  base::atomic<bool> ended_{false};
  handoff event_;
};

}  // namespace

future_core::~future_core() {
  if (failure_ != nullptr) report_if_unobserved(*failure_);
}

void future_core::wait() noexcept {
  if (ready()) {
    observe();
    return;
  }
  suspended_waiter me;
  me.on_ready = [](future_waiter& w) noexcept {
    scheduler::resume(static_cast<suspended_waiter&>(w).self);
  };
  scheduler::suspend("future::get", [this, &me](scheduler::fiber* self) {
    me.self = self;
    if (!enlist(me)) scheduler::resume(self);
  });
}

bool future_core::wait_until(std::chrono::steady_clock::time_point when) {
  if (!ready() && when > std::chrono::steady_clock::now()) {
    ref<timed_waiter>::adopt(new timed_waiter)->wait(*this, when);
  }
  if (!ready()) return false;
  observe();
  return true;
}

void future_core::wait_for_value() {
  wait();
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
      w.next = nullptr;
      w.previous = last_;
      w.listed = true;
      (last_ == nullptr ? first_ : last_->next) = &w;
      last_ = &w;
      return true;
    }
  }
  if (failure_ != nullptr) forget_unobserved(*failure_);
  return false;
}

bool future_core::withdraw(future_waiter& w) noexcept {
  std::lock_guard guard(lock_);
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
