// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/log.hpp>
#include <apgas/base/parse.hpp>

#include "left_files.hpp"

namespace apgas::inline v0::launch {
namespace {

namespace fs = std::filesystem;

// The numbers of its jobs are in names of files, as smdataseg-1268449281-0.
std::set<long> jobs_of(const fs::path& folder) {
  constexpr std::string_view begin = "smdataseg-";
  constexpr long most = 0xffffffff;
  std::set<long> jobs;
  std::error_code ignored;
  for (const auto& each : fs::recursive_directory_iterator(folder, ignored)) {
    const std::string name = each.path().filename();
    if (!name.starts_with(begin)) continue;
    const std::string number =
        name.substr(begin.size(), name.find('-', begin.size()) - begin.size());
    if (const auto job = base::parse_integer(number, 1, most)) jobs.insert(*job);
  }
  return jobs;
}

void remove_all_of(pid_t mpirun) {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  const char* const set = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): no other thread
  const fs::path all = fs::path(set ? set : "/tmp") / fmt::format("ompi.{}.{}", host, geteuid());
  const fs::path folder = all / fmt::format("pid.{}", mpirun);
  std::error_code ignored;
  for (const long job : jobs_of(folder)) {
    const std::string begin = fmt::format("vader_segment.{}.{}.{:x}.", host, geteuid(), job);
    for (const auto& each : fs::directory_iterator("/dev/shm", ignored)) {
      if (each.path().filename().string().starts_with(begin)) fs::remove(each.path(), ignored);
    }
  }
  fs::remove_all(folder, ignored);
}

}  // namespace

void remove_left_files(pid_t mpirun) noexcept {
  try {
    remove_all_of(mpirun);
  } catch (const std::exception& reason) {
    base::print_line(fmt::format("files of mpirun {} are left: {}", mpirun, reason.what()));
  }
}

}  // namespace apgas::inline v0::launch
