// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include <apgas/version.hpp>

#include "machine.hpp"

namespace bench {
namespace {

// The busy time of all cores since the machine started, in seconds, from /proc/stat.
double machine_busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupt = 0, soft = 0;
  stat >> label >> user >> nice >> system >> idle >> wait >> interrupt >> soft;
  if (!stat) return -1;
  return (user + nice + system + interrupt + soft) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

// For this process and the processes it started, once they have ended: peers are separate programs.
double own_busy_seconds() {
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return process_cpu_seconds() + seconds(children.ru_utime) + seconds(children.ru_stime);
}

}  // namespace

double process_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

state_of_detector::state_of_detector()
    : begin_(std::chrono::steady_clock::now()),
      machine_busy_(machine_busy_seconds()),
      own_busy_(own_busy_seconds()) {}

double state_of_detector::cores_used_by_others() const {
  const double busy = machine_busy_seconds();
  if (busy < 0) return -1;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  return ((busy - machine_busy_) - (own_busy_seconds() - own_busy_)) / passed.count();
}

nlohmann::ordered_json describe_machine() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::array<char, 32> date{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  std::array<double, 3> load{};
  getloadavg(load.data(), 3);
#if defined(__clang__)
  const std::string compiler = std::string("clang ") + __clang_version__;
#else
  const std::string compiler = std::string("gcc ") + __VERSION__;
#endif
  return {{"apgas", APGAS_VERSION_STRING},
          {"date", date.data()},
          {"host", host.data()},
          {"processor", processor()},
          {"cores", std::thread::hardware_concurrency()},
          {"compiler", compiler},
          {"build", BENCH_BUILD_TYPE},
          {"load", load}};
}

}  // namespace bench
