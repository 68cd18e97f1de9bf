// SPDX-License-Identifier: Apache-2.0
#include <apgas/run.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/exit_reason.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/option.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

#include "place_runtime.hpp"
#include "relaunch.hpp"

// How a process becomes a place, or several.
namespace apgas::inline v0 {
namespace {

using launch::place_runtime;

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

// For reports of broken invariants: who the calling thread is.
std::string fatal_context() {
  const scheduler::fiber* f = scheduler::current_fiber();
  if (f == nullptr || f->on == nullptr || f->on->home->environment() == nullptr) return {};
  std::string text = fmt::format("place {}, worker {}", sync::place_of(*f).here, f->on->id);
  if (f->task.name != nullptr) return fmt::format("{}, task \"{}\"", text, f->task.name);
  if (f->task.site.line() == 0) return text;
  return fmt::format("{}, task of {}:{}", text, f->task.site.file_name(), f->task.site.line());
}

[[noreturn]] void abort_job(int code) { comm::end_job(code); }

int run_place(const comm::chosen_transport& chosen, const base::settings& settings,
              const std::function<int()>& main) {
  const std::unique_ptr<comm::transport> delayed = comm::delayed_for_tests(*chosen.network);
  comm::transport& network = delayed ? *delayed : *chosen.network;
  place_runtime place({&network, chosen.why}, settings);
  place.bootstrap();
  try {
    place.start();
  } catch (const launch_error& failure) {
    if (network.size() == 1) throw;
    // This place alone knows, and the others count on it; or the others fail too, and one speaks.
    if (network.here() != 0) detail::let_others_report();
    static std::mutex speaking;
    speaking.lock();
    if (!base::others_printed_exit_reason()) base::print_line(failure.what());
    abort_job(exit_code_not_started);
  }
  const int code = network.here() == 0 ? place.run_main(main) : place.wait_for_end();
  place.stop();
  return code;
}

// Each place of one process has its threads, and a queue for every other: 65536 places took 24 GB
// before the first task ran.
constexpr int max_local_places = 4096;

// All places in this process: place 0 on the calling thread, the others on threads that wait.
int run_local_places(const base::settings& settings, const std::function<int()>& main) {
  const int n = std::max(1, settings.places);
  if (n > max_local_places) {
    throw launch_error(
        fmt::format("APGAS_PLACES={} with APGAS_TRANSPORT=local: one process runs at most {} "
                    "places; start fewer, or use mpi on several hosts",
                    n, max_local_places));
  }
  comm::local_fabric fabric(n);
  const bool asked_for = settings.transport == base::transport_choice::local;
  const std::string why = asked_for ? "APGAS_TRANSPORT" : "one place";
  std::exception_ptr failure;
  std::mutex mutex;
  auto guarded = [&](comm::rank r, int& code) {
    try {
      code = run_place({&fabric.at(r), why}, settings, main);
    } catch (...) {
      std::lock_guard guard(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  std::vector<int> codes(static_cast<std::size_t>(n), 1);
  std::vector<std::thread> others;
  try {
    for (comm::rank r = 1; r < n; ++r) {
      others.emplace_back(guarded, r, std::ref(codes[static_cast<std::size_t>(r)]));
    }
  } catch (const std::system_error& refused) {
    base::print_line(fmt::format(
        "no thread for place {} of {} in this process ({}): start fewer places, or raise ulimit -u",
        others.size() + 1, n, refused.what()));
    abort_job(exit_code_not_started);
  }
  guarded(0, codes[0]);
  for (std::thread& t : others) t.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return codes[0];
}

// Whether run is active. It publishes nothing.
base::atomic<bool> active{false};

struct active_run {
  active_run() {
    if (active.exchange(true, base::relaxed)) {
      throw illegal_operation(
          "apgas::run was called while it is active in another thread; one program at a time");
    }
    static const bool at_exit = std::atexit(end_active_run) == 0;
    static_cast<void>(at_exit);
  }
  active_run(const active_run&) = delete;
  active_run& operator=(const active_run&) = delete;
  ~active_run() { active.store(false, base::relaxed); }

  // Static objects are about to go while tasks run, and other places wait for this one.
  static void end_active_run() {
    if (active.load(base::relaxed))
      base::fatal("the process exits while a run is active; this ends the job");
  }
};

int start_program(int argc, char** argv, const config& defaults, const std::function<int()>& main) {
  base::settings settings;
  try {
    settings = settings_from(defaults);
  } catch (const std::invalid_argument& bad) {
    throw launch_error(bad.what());
  }
  base::set_fatal_hooks(fatal_context, [](int code) { abort_job(code); });
  const auto launcher = comm::find_launcher();
  const bool local = settings.transport == base::transport_choice::local;
  const bool one_process = local || (!launcher && settings.places <= 1);
  if (!one_process && !launcher) launch::relaunch(settings.places, argc, argv);
  if (detail::reports_for_job()) base::warn_unknown_variables(environ);
  const comm::failure_detector_options watched{
      .silence = std::chrono::seconds(settings.heartbeat_s), .interface = settings.interface};
  // The other processes of a job would wait for one that runs on its own and does not say so.
  if (local && comm::mpi_available() && launcher && launcher->size != 1) {
    comm::choose_transport(settings.transport, watched);
  }
  if (one_process) return run_local_places(settings, main);
  return run_place(comm::choose_transport(settings.transport, watched), settings, main);
}

}  // namespace

bool detail::reports_for_job() {
  for (const char* rank :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "PMIX_RANK"}) {
    const char* value = std::getenv(rank);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value != nullptr) return std::string_view(value) == "0";
  }
  return true;
}

void detail::let_others_report() { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }

int detail::run_program(int argc, char** argv, const config& defaults,
                        const std::function<int(int, char**)>& main) {
  if (scheduler::current_fiber() != nullptr) {
    throw illegal_operation(
        "apgas::run was called by a task; it starts the program, once at a time");
  }
  const active_run guard;
  try {
    return start_program(argc, argv, defaults, [&] { return main(argc, argv); });
  } catch (const launch_error& failure) {
    if (reports_for_job()) {
      base::print_line(failure.what());
    } else {
      let_others_report();
    }
    return exit_code_not_started;
  }
}

}  // namespace apgas::inline v0
