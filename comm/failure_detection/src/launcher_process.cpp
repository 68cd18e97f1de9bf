// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>

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

bool is_open_mpi(pid_t process) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", process)), name);
  return std::ranges::find(of_open_mpi, name) != std::end(of_open_mpi);
}

}  // namespace

void end_with_launcher() noexcept {
  const pid_t launcher = getppid();
  if (!launched_by_mpi() || !made_by_main_thread(launcher)) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) std::raise(SIGKILL);
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
  if (!is_open_mpi(getppid())) return;
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
