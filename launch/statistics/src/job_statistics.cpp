// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include "job_statistics.hpp"

namespace apgas::inline v0::launch {

// Shared by the thread that waits and the task that asks.
struct job_statistics::question {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::vector<remote::place_report> reports;
  std::exception_ptr error;

  bool wait(std::optional<std::chrono::milliseconds> patience) {
    std::unique_lock lock(mutex);
    const auto is_done = [this] { return done; };
    if (patience) return changed.wait_for(lock, *patience, is_done);
    changed.wait(lock, is_done);
    return true;
  }
  std::vector<remote::place_report> take() {
    if (error != nullptr) std::rethrow_exception(error);
    return std::move(reports);
  }
};

namespace {

// The task that asks all places.
template <class Question>
struct asking_task : scheduler::external_task {
  explicit asking_task(std::shared_ptr<Question> q)
      : external_task{.run = ask_all}, asked(std::move(q)) {}

  static scheduler::task_counter* ask_all(external_task* work, scheduler::fiber&) noexcept {
    const std::unique_ptr<asking_task> self(static_cast<asking_task*>(work));
    Question& to = *self->asked;
    std::vector<remote::place_report> reports;
    std::exception_ptr error;
    try {
      reports = remote::report_all();
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard guard(to.mutex);
    to.reports = std::move(reports);
    to.error = error;
    to.done = true;
    to.changed.notify_all();
    return nullptr;
  }

  const std::shared_ptr<Question> asked;
};

}  // namespace

job_statistics::job_statistics(sync::place_state& place) : place_(place) {}

void job_statistics::wait() {
  if (asked_ != nullptr) asked_->wait(std::nullopt);
}

std::shared_ptr<job_statistics::question> job_statistics::start() {
  asked_ = std::make_shared<question>();
  place_.task_scheduler->submit(std::make_unique<asking_task<question>>(asked_).release());
  return asked_;
}

std::optional<std::vector<remote::place_report>> job_statistics::ask(
    std::chrono::milliseconds patience) {
  if (asked_ != nullptr && !asked_->wait(std::chrono::milliseconds(0))) return std::nullopt;
  const std::shared_ptr<question> now = start();
  if (!now->wait(patience)) return std::nullopt;
  return now->take();
}

std::vector<remote::place_report> job_statistics::ask() {
  wait();
  const std::shared_ptr<question> now = start();
  now->wait(std::nullopt);
  return now->take();
}

}  // namespace apgas::inline v0::launch
