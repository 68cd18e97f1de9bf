// SPDX-License-Identifier: Apache-2.0
// apgas-info: what the library is, and what it makes of this machine and this environment.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/membarrier.hpp>
#include <apgas/base/option.hpp>
#include <apgas/base/sanitizer.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>
#include <apgas/run.hpp>
#include <apgas/scheduler/cores.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/stacks.hpp>
#include <apgas/version.hpp>

#include "job_cores.hpp"

namespace {

constexpr int usage_error = 2;

constexpr std::string_view help =
    "Usage: apgas-info [--version] [--help]\n"
    "Shows the version of apgas, how it was built, the transports, the cores, how stacks are\n"
    "guarded, and every setting with its value in this environment. Under a launcher it shows\n"
    "the cores of each place of the job. The exit code is 2 if a setting has an invalid value,\n"
    "or if the places cannot start together.\n";

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string build() {
#ifdef NDEBUG
  std::string text = "without debug assertions";
#else
  std::string text = "with debug assertions";
#endif
#if APGAS_ADDRESS_SANITIZER
  text += ", address sanitizer";
#elif APGAS_THREAD_SANITIZER
  text += ", thread sanitizer";
#endif
#ifdef APGAS_BOOST_CONTEXT
  text += ", fibers by Boost.Context";
#endif
  return text;
}

void line(std::string_view name, const std::string& value) {
  fmt::print("{:<12} {}\n", name, value);
}

std::string transports() {
  if (!apgas::comm::mpi_available()) return "local (built without MPI)";
  if (!apgas::comm::ucx_available()) return "shm, mpi, local (built without UCX)";
  return "shm, ucx, mpi, local";
}

// Describes the cores of each place if all places are in this process, where they have the same
// mask.
std::vector<std::string> places_of_process(const apgas::base::settings& settings) {
  const auto mine = apgas::scheduler::cores_of_process(settings);
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  apgas::launch::host_places all{.host = host, .places = {}, .cores = {}, .shares = {}};
  for (int place = 0; place < std::max(1, settings.places); ++place) {
    all.places.push_back(place);
    all.cores.push_back(&mine);
  }
  const auto& hardware = apgas::scheduler::processors_of_host();
  all.shares = apgas::scheduler::divide_cores(hardware, all.cores);
  return apgas::launch::core_lines(all, hardware);
}

struct no_frames final : apgas::comm::frame_sink {
  void on_frame(const apgas::comm::inbound_frame&) noexcept override {}
};

// Connects with the other places of the job, as a program does, and returns the lines about cores
// that this place has to print: the first place of a host prints those of all its places.
// Throws: launch_error.
std::vector<std::string> places_of_job(const apgas::base::settings& settings) {
  const apgas::comm::failure_detector_options detector{
      .silence = std::chrono::seconds(settings.heartbeat_s), .interface = settings.interface};
  apgas::comm::transport& network =
      *apgas::comm::choose_transport(settings.transport, detector).network;
  no_frames sink;
  apgas::comm::endpoint_options options;
  options.cores = apgas::scheduler::cores_of_process(settings);
  apgas::comm::endpoint endpoint(network, sink, options);
  endpoint.wait_ready();
  std::vector<std::string> lines = apgas::launch::job_cores(endpoint).description();
  endpoint.begin_end();
  while (!endpoint.end_done()) endpoint.progress();
  return lines;
}

std::vector<std::string> lines_of_places(const apgas::base::settings& settings) {
  const auto launcher = apgas::comm::find_launcher();
  const bool alone = !launcher || launcher->size == 1 || !apgas::comm::mpi_available() ||
                     settings.transport == apgas::base::transport_choice::local;
  return alone ? places_of_process(settings) : places_of_job(settings);
}

void print_machine(const apgas::base::settings& settings, const std::vector<std::string>& places) {
  const auto launcher = apgas::comm::find_launcher();
  line("version", APGAS_VERSION_STRING);
  line("build", fmt::format("{}, {}", compiler(), build()));
  line("transports", transports());
  line("launcher", launcher ? fmt::format("{}, {} process(es)", launcher->launcher, launcher->size)
                            : "none: a program is one place unless APGAS_PLACES says otherwise");
  line("topology", apgas::scheduler::topology_description());
  line("cores", fmt::format("{} usable, after affinity mask and cgroup quota",
                            apgas::scheduler::usable_cores()));
  for (const std::string& each : places) line("places", each);
  line("stacks", apgas::scheduler::stack_guard_description(settings.stack_bytes));
  line("fences", apgas::base::membarrier_available()
                     ? "asymmetric (membarrier)"
                     : "symmetric: no membarrier here, so spawning is slower");
}

void print_settings(const apgas::base::settings& settings) {
  const apgas::base::settings defaults;
  fmt::print("\n{:<18} {:<12} {:<8} meaning\n", "setting", "value", "unit");
  for (const apgas::base::option& o : apgas::base::options()) {
    const std::string value = o.show(settings);
    fmt::print("{:<18} {:<12} {:<8} {} ({}){}\n", o.name, value.empty() ? "-" : value, o.unit,
               o.help, o.accepted, value == o.show(defaults) ? "" : " [set here]");
  }
}

int show() {
  const bool reports = apgas::detail::reports_for_job();
  if (reports) apgas::base::warn_unknown_variables(environ);
  apgas::base::settings settings;
  std::vector<std::string> places;
  std::string bad;
  try {
    settings = apgas::base::read_settings({}, environ);
    places = lines_of_places(settings);
  } catch (const std::invalid_argument& refused) {
    bad = refused.what();
  } catch (const apgas::launch_error& refused) {
    bad = refused.what();
  }
  if (!reports) {
    for (const std::string& each : places) line("places", each);
    if (bad.empty()) return 0;
    apgas::detail::let_others_report();
    return usage_error;
  }
  print_machine(settings, places);
  print_settings(settings);
  if (bad.empty()) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "apgas-info: {}\n", bad);
  return usage_error;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 1) return show();
  if (argc == 2 && (first == "--help" || first == "-h")) {
    fmt::print("{}", help);
    return 0;
  }
  if (argc == 2 && first == "--version") {
    fmt::print("apgas {}\n", APGAS_VERSION_STRING);
    return 0;
  }
  fmt::print(stderr, "apgas-info: unknown argument '{}' (try apgas-info --help)\n",
             argc == 2 ? argv[1] : argv[2]);
  return usage_error;
}
