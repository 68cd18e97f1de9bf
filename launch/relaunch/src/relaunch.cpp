// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/base/log.hpp>
#include <apgas/base/program_path.hpp>
#include <apgas/config.hpp>
#include <apgas/errors.hpp>
#include <apgas/scheduler/cores.hpp>

#include "job_messages.hpp"
#include "leftover_files.hpp"
#include "relaunch.hpp"

namespace apgas::inline v0::launch {
namespace {

// Whether the user steers Open MPI by its own variables: then it may say why it refuses.
bool open_mpi_is_steered() {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "OMPI_MCA_", 9) == 0) return true;
  }
  return false;
}

std::vector<std::string> launch_command(const std::string& mpirun, int places) {
  std::vector<std::string> command = {mpirun,      "-n",   std::to_string(places),
                                      "--bind-to", "none", "--oversubscribe"};
  // What ends a job is said once, by the place that failed or below. Open MPI would add its own
  // words, and print the stack of a place that a signal ends.
  if (!open_mpi_is_steered()) command.emplace_back("-q");
  command.insert(command.end(), {"--mca", "opal_signal", ""});
  if (places > scheduler::usable_cores()) {
    command.insert(command.end(), {"--mca", "mpi_yield_when_idle", "1"});
  }
  if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0) {
    // Containers may not read each other's memory.
    command.insert(command.end(), {"--mca", "btl_vader_single_copy_mechanism", "none"});
  }
  return command;
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : signals) sigaddset(&set, s);
  return set;
}

// mpirun ends its places at the first signal, and leaves them behind at a second one within five
// seconds. A terminal sends a signal to all processes of the job, so this process must not send
// another: mpirun hears nothing but stop_signal, which is sent once.
constexpr int stop_signal = SIGHUP;
constexpr std::chrono::seconds second_signal_is_safe{6};
constexpr std::chrono::seconds longest_stop{
    20};  // of a job that was told to end, or said why it does

// Those that ask for the end, but for what is ignored here, as under nohup; and mpirun's end.
sigset_t signals_to_watch() {
  sigset_t set = set_of({SIGCHLD});
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now = {};
    sigaction(s, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_IGN) sigaddset(&set, s);
  }
  return set;
}

[[noreturn]] void become_mpirun(std::vector<std::string>& command, pid_t parent,
                                const int (&words)[2]) {
  dup2(words[1], STDERR_FILENO);
  fcntl(words[0], F_SETFD, 0);  // or it would leave its places behind when the pipe breaks
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const sigset_t deaf = set_of({SIGINT, SIGTERM, SIGQUIT});
  pthread_sigmask(SIG_SETMASK, &deaf, nullptr);
  prctl(PR_SET_PDEATHSIG, stop_signal);
  if (getppid() == parent) execv(arguments[0], arguments.data());
  base::print_line(
      fmt::format("{} could not be started ({}): check its installation, or run all "
                  "places in one process with APGAS_TRANSPORT=local",
                  command[0], std::system_category().message(errno)));
  _exit(exit_code_not_started);
}

// The code of this process when mpirun ended like that. Where no place could say why, it does.
int code_of(int status, bool told) {
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (told) return code;
  if (const std::string full = full_output(); code == 0 && !full.empty()) {
    base::print_line(
        fmt::format("the disk that standard {} goes to is full: some of it may be lost", full));
    return 1;
  }
  if (WIFSIGNALED(status)) {
    base::print_line(fmt::format("mpirun was killed by signal {} ({}); the job has ended",
                                 WTERMSIG(status), sigdescr_np(WTERMSIG(status))));
    return code;
  }
  for (const int s : {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGTERM}) {
    if (code != 128 + s) continue;
    base::print_line(
        fmt::format("a place was ended by signal {} ({}); the job has ended", s, sigdescr_np(s)));
  }
  return code;
}

// The next of them, or 0 after a second; hands on meanwhile what the job says. They can be read
// from `arrived`.
int next_signal(const sigset_t& signals, int arrived, job_messages& words) {
  pollfd waited[] = {{arrived, POLLIN, 0}, {words.source(), POLLIN, 0}};
  poll(waited, std::size(waited), 1000);
  words.hand_on();
  const timespec at_once{};
  return std::max(sigtimedwait(&signals, nullptr, &at_once), 0);
}

// Waits for mpirun and hands on the first signal that asks for the end.
int watch(pid_t mpirun, const sigset_t& signals, job_messages& words) {
  using clock = std::chrono::steady_clock;
  int asked = 0;
  bool sent = false;
  bool told = false;
  clock::time_point since;  // asked or told
  const int arrived = signalfd(-1, &signals, SFD_CLOEXEC);
  int status = 0;
  while (waitpid(mpirun, &status, WNOHANG) == 0) {
    const int signal = next_signal(signals, arrived, words);
    if (signal > 0 && signal != SIGCHLD && asked == 0) {
      asked = signal;
      since = clock::now();
    }
    if (asked == 0 && !told && words.told_the_end()) {
      told = true;
      since = clock::now();
    }
    if (asked == 0 && !told) continue;
    const auto passed = clock::now() - since;
    // A hang-up reaches mpirun too, if it was for all.
    if (asked != 0 && !sent && (asked != stop_signal || passed > second_signal_is_safe)) {
      kill(mpirun, stop_signal);
      sent = true;
    }
    if (passed > longest_stop) kill(mpirun, SIGKILL);
  }
  words.finish();
  if (WIFSIGNALED(status)) remove_leftover_files(mpirun);
  return asked != 0 ? 128 + asked : code_of(status, words.told_the_end());
}

}  // namespace

void relaunch(int places, int argc, char** argv, const std::function<void()>& when_ended) {
  const std::string mpirun = base::find_program("mpirun");
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
  unsetenv("APGAS_PLACES");  // NOLINT(concurrency-mt-unsafe): the launcher says how many
  std::vector<std::string> command = launch_command(mpirun, places);
  command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  for (int i = 1; i < argc; ++i) command.emplace_back(argv[i]);

  const sigset_t signals = signals_to_watch();
  std::signal(SIGCHLD, SIG_DFL);  // or nobody learns how mpirun ended
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const pid_t parent = getpid();
  int words[2] = {-1, -1};
  if (pipe2(words, O_CLOEXEC) != 0) {
    throw launch_error(fmt::format("no pipe for {} ({}): raise ulimit -n", mpirun,
                                   std::system_category().message(errno)));
  }
  const pid_t child = fork();
  if (child == 0) become_mpirun(command, parent, words);
  close(words[1]);
  if (child < 0) {
    const std::string reason = std::system_category().message(errno);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    throw launch_error(fmt::format(
        "no process for {} ({}): raise ulimit -u, or run all places in one process with "
        "APGAS_TRANSPORT=local",
        mpirun, reason));
  }
  // The program runs in the places. This process ends as if it had become mpirun: nothing that
  // follows apgas::run is done here.
  int code = 0;
  {
    job_messages heard(words[0]);
    code = watch(child, signals, heard);
  }
  when_ended();
  _exit(code);
}

}  // namespace apgas::inline v0::launch
