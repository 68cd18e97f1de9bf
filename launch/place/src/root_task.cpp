// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/scheduler/seeded_schedule.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/remote_finish.hpp>

#include "root_task.hpp"
#include "unobserved_failures.hpp"

namespace apgas::inline v0::launch {
namespace {

// Calls f and keeps what it throws.
template <class F>
void keep_failures(std::vector<task_exception>& failures, F f) {
  try {
    f();
  } catch (const multiple_exceptions& several) {
    failures.insert(failures.end(), several.begin(), several.end());
  } catch (...) {
    failures.emplace_back(std::current_exception(), 0, spawn_site{});
  }
}

bool is_out_of_memory(const task_exception& failure) {
  try {
    std::rethrow_exception(failure.exception());
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

// What to do about the failures, where that is known; begins with a new line.
std::string_view remedy_for(const std::vector<task_exception>& failures) {
  return std::ranges::any_of(failures, is_out_of_memory)
             ? "\n  The memory did not suffice: use smaller data, or more places on more hosts"
             : "";
}

}  // namespace

void root_task::start(sync::place_state& place) {
  place_ = &place;
  place.task_scheduler->submit(this);
}

int root_task::wait() {
  const base::own_thread waits;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return code_.has_value(); });
  return code_.value();
}

scheduler::task_counter* root_task::run_task(external_task* work, scheduler::fiber& self) noexcept {
  static_cast<root_task*>(work)->run_on(self);
  return nullptr;
}

void root_task::run_on(scheduler::fiber& self) noexcept {
  self.task.name = "main";
  scheduler::task_described(self);
  self.task.name = nullptr;
  self.runs_main = true;
  std::vector<task_exception> failures;
  int code = 0;
  keep_failures(failures, [&] { code = run_main(self); });
  keep_failures(failures, throw_unobserved);
  if (!failures.empty()) {
    code = 1;
    const std::string_view remedy = remedy_for(failures);
    base::print_line(
        fmt::format("{}: {}{}", failed_, multiple_exceptions(std::move(failures)).what(), remedy));
  }
  if (scheduler::seeded_schedule* const schedule = place_->task_scheduler->schedule()) {
    schedule->end();
    if (code != 0) {
      base::print_line(
          fmt::format("the program ended with the code {}; {}", code, schedule->description()));
    }
  }
  self.runs_main = false;
  std::lock_guard guard(mutex_);
  code_ = code;
  done_.notify_one();
}

int root_task::run_main(scheduler::fiber& self) {
  int code = 0;
  sync::finish_frame root(self);
  place_->finishes->open_root(root.core());
  try {
    code = main_();
  } catch (...) {
    sync::task_failed(self);
  }
  root.end({});  // the outer finish is the current one again
  return code;   // NOLINT(clang-analyzer-core.StackAddressEscape): end() is out of its sight
}

}  // namespace apgas::inline v0::launch
