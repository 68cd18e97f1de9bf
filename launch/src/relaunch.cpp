// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/errors.hpp>
#include <apgas/scheduler/scheduler.hpp>

#include "relaunch.hpp"

namespace apgas::inline v0::launch {
namespace {

std::string find_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): before any thread
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = fmt::format("{}/{}", folder, program);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace

void relaunch(int places, int argc, char** argv) {
  const std::string mpirun = find_on_path("mpirun");
  if (mpirun.empty()) {
    throw launch_error(fmt::format(
        "APGAS_PLACES={} needs mpirun, which is not on PATH: install Open MPI (Debian: apt install "
        "openmpi-bin), or run all places in one process with APGAS_TRANSPORT=local",
        places));
  }
  // Open MPI refuses root and more places than cores unless told; the places bind their own
  // workers.
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);          // NOLINT(concurrency-mt-unsafe)
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);  // NOLINT(concurrency-mt-unsafe)
  std::vector<std::string> command = {mpirun,      "-n",   std::to_string(places),
                                      "--bind-to", "none", "--oversubscribe"};
  if (places > scheduler::usable_cores()) {
    command.insert(command.end(), {"--mca", "mpi_yield_when_idle", "1"});
  }
  if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0) {
    // Containers may not read each other's memory.
    command.insert(command.end(), {"--mca", "btl_vader_single_copy_mechanism", "none"});
  }
  unsetenv("APGAS_PLACES");  // NOLINT(concurrency-mt-unsafe): the launcher says how many
  command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  command.insert(command.end(), argv + 1, argv + argc);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(mpirun.c_str(), arguments.data());
  throw launch_error(
      fmt::format("{} could not be started: {}", mpirun, std::system_category().message(errno)));
}

}  // namespace apgas::inline v0::launch
