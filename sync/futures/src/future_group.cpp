// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/future_group.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/future_state.hpp>
#include <apgas/sync/place_state.hpp>

#include "failures.hpp"
#include "future_countdown.hpp"

namespace apgas::inline v0::sync {
namespace {

// A task that counts in its finish already and is submitted to the scheduler when its futures are
// ready.
// NOLINTNEXTLINE(misc-multiple-inheritance): one base for the scheduler, one for the futures
class waiting_task final : public scheduler::external_task, public future_countdown {
 public:
  waiting_task(scheduler::fiber& self, awaited_futures awaited, task_body body, const char* name,
               std::source_location site)
      : future_countdown(awaited.size()),
        home_(*self.on->home),
        finish_(finish_of(self)),
        body_(std::move(body)),
        name_(name),
        site_(site) {
    run = &run_task;
    finish_.add(1);
  }

 private:
  void all_ready() noexcept override { home_.submit(this); }

  static scheduler::task_counter* run_task(scheduler::external_task* work,
                                           scheduler::fiber& self) noexcept {
    std::unique_ptr<waiting_task> task(static_cast<waiting_task*>(work));
    finish_core& finish = task->finish_;
    self.task = {.finish = &finish, .site = task->site_, .name = task->name_};
    task_body body = std::move(task->body_);
    task.reset();
    try {
      body();
    } catch (...) {
      task_failed(self);
    }
    self.task.name = nullptr;
    return &finish;
  }

  scheduler::scheduler& home_;
  finish_core& finish_;
  task_body body_;
  const char* name_;
  std::source_location site_;
};

// Publishes a future when the futures that it combines are ready.
class waiting_result final : public future_countdown {
 public:
  waiting_result(ref<future_core> result, awaited_futures awaited)
      : future_countdown(awaited.size()), result_(std::move(result)) {}

 private:
  void all_ready() noexcept override {
    const std::unique_ptr<waiting_result> self(this);
    result_->publish_value();
  }

  ref<future_core> result_;
};

}  // namespace

void publish_caught(future_core& future, scheduler::fiber& self) noexcept {
  future.publish_error(std::current_exception(), place_of(self), site_of(self.task));
}

void spawn_when_ready(scheduler::fiber& self, awaited_futures awaited, task_body body,
                      const char* name, std::source_location site) {
  if (std::ranges::all_of(awaited, [](future_core* f) { return f->ready(); })) {
    for (future_core* f : awaited) f->observe();
    std::move(body).spawn(self, name, site);
  } else {
    auto task = std::make_unique<waiting_task>(self, awaited, std::move(body), name, site);
    task.release()->start(awaited);
  }
}

void publish_when_all(ref<future_core> result, awaited_futures awaited) {
  auto waiting = std::make_unique<waiting_result>(std::move(result), awaited);
  waiting.release()->start(awaited);
}

}  // namespace apgas::inline v0::sync
