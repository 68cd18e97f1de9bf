// SPDX-License-Identifier: Apache-2.0
// apgas-info: what the library is, and what it makes of this machine and this environment.

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/membarrier.hpp>
#include <apgas/base/option.hpp>
#include <apgas/base/sanitizer.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/stacks.hpp>
#include <apgas/version.hpp>

namespace {

constexpr int usage_error = 2;

constexpr std::string_view help =
    "Usage: apgas-info [--version] [--help]\n"
    "Shows the version of apgas, how it was built, the transports, the cores, how stacks are "
    "guarded,\n"
    "and every setting with its value in this environment. Code 2 when a setting has a bad "
    "value.\n";

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
  if (!apgas::comm::ucx_available()) return "mpi, local (built without UCX)";
  return "ucx, mpi, local";
}

void print_machine(const apgas::base::settings& settings) {
  const auto launcher = apgas::comm::find_launcher();
  line("version", APGAS_VERSION_STRING);
  line("build", fmt::format("{}, {}", compiler(), build()));
  line("transports", transports());
  line("launcher", launcher ? fmt::format("{}, {} process(es)", launcher->launcher, launcher->size)
                            : "none: a program is one place unless APGAS_PLACES says otherwise");
  line("topology", apgas::scheduler::topology_description());
  line("cores", fmt::format("{} usable, after affinity mask and cgroup quota",
                            apgas::scheduler::usable_cores()));
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
  apgas::base::warn_unknown_variables(environ);
  apgas::base::settings settings;
  std::string bad;
  try {
    settings = apgas::base::read_settings({}, environ);
  } catch (const std::invalid_argument& refused) {
    bad = refused.what();
  }
  print_machine(settings);
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
