// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/own_threads.hpp>
#include <apgas/errors.hpp>
#include <apgas/finish.hpp>

#include "runtime_core.hpp"

namespace apgas::inline v0::launch {
namespace {

// Runs f as the task that was submitted, under a finish; returns what that threw.
template <class F>
std::exception_ptr run_as_task(scheduler::fiber& self, std::source_location site, F f) noexcept {
  self.task.site = site;
  scheduler::task_described(self);
  try {
    finish(f);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

// A call of run, on the stack of its caller.
class runtime_core::waiting_call final : public scheduler::external_task {
 public:
  waiting_call(void (*body)(void*), void* object, std::source_location site) noexcept
      : external_task{.run = run_task}, body_(body), object_(object), site_(site) {}

  // Throws: what the finish of the call threw.
  void wait() {
    std::unique_lock lock(mutex_);
    if (!ended_) waits_.emplace();
    done_.wait(lock, [this] { return ended_; });
    lock.unlock();
    if (error_ != nullptr) std::rethrow_exception(std::move(error_));
  }

 private:
  static scheduler::task_counter* run_task(external_task* work, scheduler::fiber& self) noexcept {
    auto& call = *static_cast<waiting_call*>(work);
    std::exception_ptr error = run_as_task(self, call.site_, [&] { call.body_(call.object_); });
    std::lock_guard guard(call.mutex_);
    call.error_ = std::move(error);
    call.ended_ = true;
    call.waits_.reset();  // now, since the thread may take long to continue
    call.done_.notify_one();
    return nullptr;
  }

  void (*const body_)(void*);
  void* const object_;
  const std::source_location site_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool ended_ = false;
  std::optional<base::own_thread> waits_;  // the caller cannot make a task ready
  std::exception_ptr error_;
};

// A call of submit, which deletes itself.
class runtime_core::submission final : public scheduler::external_task {
 public:
  submission(runtime_core& core, std::unique_ptr<submitted_call> call, std::source_location site)
      : external_task{.run = run_task}, core_(core), call_(std::move(call)), site_(site) {}

 private:
  static scheduler::task_counter* run_task(external_task* work, scheduler::fiber& self) noexcept {
    std::unique_ptr<submission> own(static_cast<submission*>(work));
    runtime_core& core = own->core_;
    own->call_->deliver(run_as_task(self, own->site_, [&] { own->call_->run(); }));
    own.reset();
    core.end_call();
    return nullptr;
  }

  runtime_core& core_;
  const std::unique_ptr<submitted_call> call_;
  const std::source_location site_;
};

runtime_core::runtime_core(const config& defaults, std::optional<command_line> again)
    : process_(getpid()), active_(std::in_place, program_kind::runtime), places_(defaults, again) {
  if (here() != 0) return;
  places_.place().start_main(root_);
  end_.wait_until_open();
}

runtime_core::~runtime_core() = default;

bool runtime_core::in_own_process() const noexcept { return getpid() == process_; }

void runtime_core::check_process(const char* function) const {
  if (in_own_process()) return;
  throw illegal_operation(fmt::format(
      "runtime::{} was called in a process that was forked from the one with the runtime, whose "
      "threads it does not have; make the runtime after the fork, or start a new program with exec",
      function));
}

void runtime_core::begin_call(const char* function) {
  check_process(function);
  if (here() != 0) {
    throw illegal_operation(fmt::format(
        "runtime::{} was called at place {}, which runs what place 0 sends; call serve() there",
        function, here()));
  }
  std::lock_guard guard(calls_mutex_);
  if (ending_) {
    throw illegal_operation(fmt::format(
        "runtime::{} was called after the end of the runtime had begun; call it before stop() and "
        "before the runtime is destroyed",
        function));
  }
  ++calls_;
}

void runtime_core::end_call() noexcept {
  std::lock_guard guard(calls_mutex_);
  if (--calls_ != 0) return;
  stop_waits_.reset();
  calls_ended_.notify_all();
}

void runtime_core::run(void (*body)(void*), void* object, std::source_location site) {
  begin_call("run");
  waiting_call call(body, object, site);
  places_.place().workers().submit(&call);
  const struct ended {
    runtime_core& core;
    ~ended() { core.end_call(); }
  } at_the_end{*this};
  call.wait();
}

void runtime_core::submit(std::unique_ptr<submitted_call> call, std::source_location site) {
  auto own = std::make_unique<submission>(*this, std::move(call), site);
  begin_call("submit");
  places_.place().workers().submit(own.release());
}

int runtime_core::serve() {
  check_process("serve");
  if (here() == 0) return 0;
  std::lock_guard guard(end_mutex_);
  if (code_.has_value()) return *code_;
  code_ = places_.place().wait_for_end();
  end_places();
  return *code_;
}

int runtime_core::stop(int code) {
  check_process("stop");
  if (here() != 0) {
    throw illegal_operation(fmt::format(
        "runtime::stop was called at place {}, which ends when place 0 does; call serve() there",
        here()));
  }
  std::lock_guard guard(end_mutex_);
  if (code_.has_value()) return *code_;
  {
    std::unique_lock lock(calls_mutex_);
    ending_ = true;
    if (calls_ != 0) stop_waits_.emplace();
    calls_ended_.wait(lock, [this] { return calls_ == 0; });
  }
  end_.end(code);
  code_ = places_.place().end_main(root_);
  end_places();
  return *code_;
}

void runtime_core::end_places() {
  places_.end();
  active_.reset();
}

}  // namespace apgas::inline v0::launch
