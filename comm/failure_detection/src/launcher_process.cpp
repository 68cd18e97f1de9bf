// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <apgas/comm/transports.hpp>

#include "launcher_process.hpp"

namespace apgas::inline v0::comm {

namespace {

constexpr int stays_ms = 5000;

// The names in /proc, which truncates them.
constexpr const char* of_open_mpi[] = {"mpirun",  "mpirun.openmpi", "mpiexec", "mpiexec.openmpi",
                                       "orterun", "orted",          "prterun", "prted"};

bool made_by_main_thread(pid_t launcher) {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", launcher));
  for (pid_t child = 0; children >> child;) {
    if (child == getpid()) return true;
  }
  return false;
}

std::string name_of_process(const std::string& process) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", process)), name);
  return name;
}

bool is_open_mpi(const std::string& name) {
  return std::ranges::find(of_open_mpi, name) != std::end(of_open_mpi);
}

bool is_launcher(const std::string& name) {
  return is_open_mpi(name) || name == "slurmstepd" || name.starts_with("hydra_pmi");  // MPICH's
}

// The name of a namespace of a process, such as user:[4026531837]; empty if it may not be read.
std::string namespace_of(const std::string& process, const char* kind) {
  std::error_code failed;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/{}", process, kind), failed)
      .string();
}

// "0" if the parent is in another pid namespace.
std::string parent_of(const std::string& process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;) {
    if (word == "PPid:" && status >> word) return word;
  }
  return "0";
}

// Of the host, in which no container is; the kernel gives them these numbers.
constexpr const char* first_user_namespace = "user:[4026531837]";
constexpr const char* first_pid_namespace = "pid:[4026531836]";

}  // namespace

void end_with_launcher() noexcept {
  const pid_t launcher = getppid();
  if (!launched_by_mpi() || !made_by_main_thread(launcher)) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) std::raise(SIGKILL);
}

bool in_namespaces_of_launcher() {
  std::string process = std::to_string(getppid());
  while (process != "0") {
    for (const char* const kind : {"user", "pid", "ipc"}) {
      const std::string own = namespace_of("self", kind);
      const std::string of_ancestor = namespace_of(process, kind);
      // It belongs to another user, or to the user namespace that contains this one.
      if (of_ancestor.empty()) return namespace_of("self", "user") == first_user_namespace;
      if (of_ancestor != own) return false;
    }
    if (is_launcher(name_of_process(process))) return true;
    process = parent_of(process);
  }
  return namespace_of("self", "pid") == first_pid_namespace;
}

descriptor monitor_launcher() noexcept {
  const pid_t launcher = getppid();
  descriptor opened(static_cast<int>(syscall(SYS_pidfd_open, launcher, 0)));
  return getppid() == launcher ? std::move(opened) : descriptor();
}

// The new process may only call functions that are safe in a signal handler, since other threads of
// this process may hold locks. It keeps no descriptor open except the launcher's, so that nothing
// waits for it.
void end_launcher_if_it_stays() noexcept {
  if (!is_open_mpi(name_of_process(std::to_string(getppid())))) return;
  const descriptor launcher = monitor_launcher();
  if (!launcher || _Fork() != 0) return;
  setsid();
  constexpr unsigned kept = 0;
  dup2(launcher.number(), kept);
  close_range(kept + 1, ~0U, 0);
  pollfd end{kept, POLLIN, 0};
  if (poll(&end, 1, stays_ms) == 0) syscall(SYS_pidfd_send_signal, kept, SIGKILL, nullptr, 0);
  _exit(0);
}

}  // namespace apgas::inline v0::comm
