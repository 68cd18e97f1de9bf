// SPDX-License-Identifier: Apache-2.0
#include <apgas/runtime.hpp>

#include <cstdlib>
#include <optional>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/errors.hpp>
#include <apgas/finish.hpp>
#include <apgas/run.hpp>

#include "process_exit.hpp"
#include "runtime_core.hpp"

// The part of a runtime that its users see: what a task may call, the process, and the destructor.
namespace apgas::inline v0 {
namespace {

using launch::runtime_core;

std::unique_ptr<runtime_core> start(const config& defaults,
                                    std::optional<launch::command_line> again) {
  std::unique_ptr<runtime_core> core;
  try {
    core = std::make_unique<runtime_core>(defaults, again);
  } catch (const launch_error&) {
    if (!detail::reports_for_job()) detail::let_others_report();
    throw;
  }
  if (defaults.serve_and_exit && core->here() != 0) {
    const int code = core->serve();
    core.reset();
    std::exit(code);  // NOLINT(concurrency-mt-unsafe): what the caller has asked for
  }
  return core;
}

void refuse_in_task(const char* function, const char* remedy) {
  if (!scheduler::on_fiber()) return;
  throw illegal_operation(
      std::string("runtime::").append(function).append(" was called by a task; ").append(remedy));
}

// What cannot be ended in order is left as it is, where leak checkers find it.
base::atomic<runtime_core*> left_behind{nullptr};

}  // namespace

runtime::runtime(const config& defaults) : core_(start(defaults, std::nullopt)) {}

runtime::runtime(int argc, char** argv, const config& defaults)
    : core_(start(defaults, launch::command_line{argc, argv})) {}

// NOLINTNEXTLINE(bugprone-exception-escape): an error of the orderly end ends the process
runtime::~runtime() {
  if (!core_->in_own_process() || launch::process_is_exiting()) {
    runtime_core* const core = core_.release();
    left_behind.store(core, base::relaxed);
    return;
  }
  if (scheduler::on_fiber()) {
    base::fatal(
        "an apgas::runtime was destroyed by a task, which its end would wait for; destroy it on "
        "the thread that made it");
  }
  static_cast<void>(core_->here() == 0 ? core_->stop(0) : core_->serve());
}

int runtime::serve() {
  refuse_in_task("serve", "call it on the thread that made the runtime");
  return core_->serve();
}

int runtime::stop(int code) {
  refuse_in_task("stop", "call it on the thread that made the runtime");
  return core_->stop(code);
}

int runtime::place_id() const noexcept { return core_->here(); }
int runtime::num_places() const noexcept { return core_->num_places(); }

bool runtime::active() noexcept { return launch::active_kind() == launch::program_kind::runtime; }

void runtime::run_body(void (*body)(void*), void* object, std::source_location site) {
  if (!scheduler::on_fiber()) return core_->run(body, object, site);
  finish([&] { body(object); });
}

void runtime::submit_call(std::unique_ptr<launch::submitted_call> call, std::source_location site) {
  refuse_in_task("submit", "use async_future, for whose value a task can wait");
  core_->submit(std::move(call), site);
}

}  // namespace apgas::inline v0
