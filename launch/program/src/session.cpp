// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/exit_reason.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/membarrier.hpp>
#include <apgas/base/option.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/errors.hpp>
#include <apgas/run.hpp>
#include <apgas/scheduler/seeded_schedule.hpp>

#include "job_trace.hpp"
#include "keep_loaded.hpp"
#include "left_records.hpp"
#include "process_exit.hpp"
#include "relaunch.hpp"
#include "session.hpp"

namespace apgas::inline v0::launch {
namespace {

base::settings settings_from(const config& defaults) {
  base::settings s;
  if (defaults.places != 0) base::set_option(s, "APGAS_PLACES", std::to_string(defaults.places));
  if (defaults.workers != 0) base::set_option(s, "APGAS_WORKERS", std::to_string(defaults.workers));
  if (!defaults.transport.empty()) base::set_option(s, "APGAS_TRANSPORT", defaults.transport);
  if (defaults.stack_bytes != 0) {
    base::set_option(s, "APGAS_STACK_SIZE", std::to_string(defaults.stack_bytes));
  }
  for (const auto& [name, value] : defaults.more) base::set_option(s, name, value);
  return base::read_settings(s, environ);
}

base::settings valid_settings_from(const config& defaults) {
  try {
    return settings_from(defaults);
  } catch (const std::invalid_argument& bad) {
    throw launch_error(bad.what());
  }
}

// For reports of broken invariants: who the calling thread is.
std::string fatal_context() {
  const scheduler::fiber* f = scheduler::current_fiber();
  if (f == nullptr || f->on == nullptr || f->on->home->environment() == nullptr) return {};
  std::string text = fmt::format("place {}, worker {}", sync::place_of(*f).here, f->on->id);
  if (const auto* const schedule = f->on->home->schedule()) {
    text += fmt::format(", APGAS_SEED={}", schedule->seed());
  }
  if (f->task.name != nullptr) return fmt::format("{}, task \"{}\"", text, f->task.name);
  if (f->task.site.line() == 0) return text;
  return fmt::format("{}, task of {}:{}", text, f->task.site.file_name(), f->task.site.line());
}

[[noreturn]] void abort_job(int code) { comm::end_job(code); }

// Each place of one process has its threads, and a queue for every other: 65536 places took 24 GB
// before the first task ran.
constexpr int max_local_places = 4096;

// The number of workers of a place with a seed, unless the user sets one.
constexpr int workers_with_seed = 4;

[[noreturn]] void start_again(int places, const std::optional<command_line>& command,
                              const std::string& trace) {
  if (!command.has_value()) {
    throw launch_error(fmt::format(
        "APGAS_PLACES={}, but an apgas::runtime that is made without argc and argv cannot start "
        "its program again under mpirun: start the program with `apgas-run -n {}`, or set "
        "APGAS_TRANSPORT=local",
        places, places));
  }
  const auto begun = std::chrono::file_clock::now();
  relaunch(places, command->argc, command->argv,
           [&trace, begun] { merge_left_records(trace, begun); });
}

}  // namespace

session::member::member(const comm::chosen_transport& chosen, const base::settings& settings,
                        scheduler::seeded_schedule* schedule)
    // The transports of tests depend on the time, so a seeded schedule goes without them.
    : rings(schedule == nullptr ? comm::rings_for_tests(*chosen.network) : nullptr),
      delayed(schedule == nullptr ? comm::delayed_for_tests(rings ? *rings : *chosen.network)
                                  : nullptr),
      network(delayed ? *delayed
              : rings ? *rings
                      : *chosen.network),
      place({&network, chosen.why}, settings, schedule) {}

session::session(const config& defaults, std::optional<command_line> again)
    : settings_(valid_settings_from(defaults)) {
  keep_loaded();
  base::set_fatal_hooks(fatal_context, [](int code) { abort_job(code); });
  const auto launcher = comm::find_launcher();
  const bool local = settings_.transport == base::transport_choice::local;
  const bool one_process = local || (!launcher && settings_.places <= 1);
  if (settings_.seed) check_seed(one_process);
  if (!one_process && !launcher) start_again(settings_.places, again, settings_.trace);
  if (detail::reports_for_job()) {
    base::warn_unknown_variables(environ);
    if (!base::membarrier_available()) {
      base::print_line(
          "this system refuses the system call membarrier, so each spawn takes a fence of its own; "
          "in a container, permit it in the seccomp profile");
    }
  }
  const comm::failure_detector_options watched{
      .silence = std::chrono::seconds(settings_.heartbeat_s), .interface = settings_.interface};
  // The other processes of a job would wait for one that runs on its own and does not say so.
  if (local && comm::mpi_available() && launcher && launcher->size != 1) {
    comm::choose_transport(settings_.transport, watched);
  }
  if (one_process) {
    if (settings_.places <= 1) base::set_exit_reporting("place 0", nullptr);
    base::catch_crashes();
    if (!launcher) job_trace::job_is_this_process();
    start_local_places();
  } else {
    const auto chosen = comm::choose_transport(settings_.transport, watched);
    monitor_process_exit_with_mpi();
    first_ = std::make_unique<member>(chosen, settings_, nullptr);
    open_control(first_->network.here(), first_->network.size());
    start(*first_);
  }
  here_ = first_->network.here();
  num_places_ = first_->network.size();
  if (num_places_ == 1) set_sole_place(&first_->place.workers());
}

session::~session() = default;

// Refuses what a seeded schedule cannot control, and sets what it needs.
void session::check_seed(bool one_process) {
  if (!one_process) {
    throw launch_error(fmt::format(
        "APGAS_SEED={}: a seed determines the schedule of one process, and this job has "
        "several; set APGAS_TRANSPORT=local to run all places in one process",
        *settings_.seed));
  }
  if (settings_.progress == base::progress_choice::thread) {
    throw launch_error(
        fmt::format("APGAS_SEED={}: the thread of APGAS_PROGRESS=thread would not follow the "
                    "schedule; set APGAS_PROGRESS=workers",
                    *settings_.seed));
  }
  // The same seed must mean the same schedule on each machine.
  if (settings_.workers == 0) settings_.workers = workers_with_seed;
  settings_.bind = base::bind_choice::none;
  settings_.control = false;  // who looks at the program would change its schedule
}

// Compares with the other places and starts the workers.
void session::start(member& each) {
  each.place.bootstrap();
  try {
    each.place.start();
  } catch (const launch_error& failure) {
    if (each.network.size() == 1) throw;
    // This place alone knows, and the others count on it; or the others fail too, and one speaks.
    if (each.network.here() != 0) detail::let_others_report();
    static std::mutex speaking;
    speaking.lock();
    if (!base::others_printed_exit_reason()) base::print_line(failure.what());
    abort_job(exit_code_not_started);
  }
  if (control_ != nullptr)
    control_->add(each.place.state(), each.place.activity(), each.place.explanation(),
                  each.place.trace());
}

// A program that cannot have the socket or the thread runs without it: no task needs them.
void session::open_control(int place, int places) noexcept {
  if (!settings_.control) return;
  // The kernel registers a process for membarrier at once as long as it has one thread; later that
  // takes milliseconds, in which the workers could not start.
  static_cast<void>(base::membarrier_available());
  try {
    control_ = std::make_unique<control_server>(facts_of_process(places, settings_.watchdog_s != 0),
                                                place);
  } catch (const std::exception&) {
    control_.reset();
  }
}

// To be called before the workers of the place stop.
void session::withdraw(const place_runtime& place) noexcept {
  if (control_ != nullptr) control_->remove(place.state());
}

void session::start_local_places() {
  const int n = std::max(1, settings_.places);
  if (n > max_local_places) {
    throw launch_error(
        fmt::format("APGAS_PLACES={} with APGAS_TRANSPORT=local: one process runs at most {} "
                    "places; start fewer, or use mpi on several hosts",
                    n, max_local_places));
  }
  if (settings_.seed) schedule_.emplace(*settings_.seed, n);
  scheduler::seeded_schedule* const schedule = schedule_ ? &*schedule_ : nullptr;
  fabric_.emplace(n, nullptr, schedule != nullptr ? &schedule->choices() : nullptr);
  open_control(0, n);
  const bool asked_for = settings_.transport == base::transport_choice::local;
  const std::string why = asked_for ? "APGAS_TRANSPORT" : "one place";
  waiting_.start(n, [this, why, schedule](comm::rank r) {
    member own({&fabric_->at(r), why}, settings_, schedule);
    start(own);
    static_cast<void>(own.place.wait_for_end());
    withdraw(own.place);
    own.place.stop();
  });
  first_ =
      std::make_unique<member>(comm::chosen_transport{&fabric_->at(0), why}, settings_, schedule);
  start(*first_);
}

void session::end() {
  set_sole_place(nullptr);
  withdraw(first_->place);
  first_->place.stop();
  first_.reset();
  waiting_.join();
  waiting_.rethrow_failure();
}

void session::waiting_places::start(int n, const std::function<void(comm::rank)>& body) {
  const auto keep_failure = [this, body](comm::rank r) {
    const base::own_thread counts;
    try {
      body(r);
    } catch (...) {
      std::lock_guard guard(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
  };
  try {
    for (comm::rank r = 1; r < n; ++r) threads_.emplace_back(keep_failure, r);
  } catch (const std::system_error& refused) {
    base::print_line(fmt::format(
        "no thread for place {} of {} in this process ({}): start fewer places, or raise ulimit -u",
        threads_.size() + 1, n, refused.what()));
    abort_job(exit_code_not_started);
  }
}

void session::waiting_places::join() noexcept {
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

void session::waiting_places::rethrow_failure() {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

}  // namespace apgas::inline v0::launch
