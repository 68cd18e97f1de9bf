// SPDX-License-Identifier: Apache-2.0
// Kills a process within a function: kill_inside <process> <library> <address> <steps>. When a
// thread of the process enters the function at that address of the library, it executes so many
// further instructions there, or less if the function returns before. Then the whole process is
// killed. With a fifth argument, `owner`, the process goes on instead, and the process is killed
// whose memory the function reads; the function is read_remote_process (comm/zero_copy.hpp).
// Prints the address at which that thread was, and the process that was killed.
//
// If no call of the function has executed so many instructions after 500 calls or five seconds, the
// process is killed when the present call returns. Beside busy programs a single instruction can
// take milliseconds, because the traced thread and this program wait for each other.
//
// Exit code: 77 if the system does not permit it, 1 after other errors or if it takes longer than
// two minutes. See killed_inside_test.py.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;

constexpr int calls_max = 500;
constexpr std::chrono::seconds search_time(5);
constexpr unsigned limit_seconds = 120;

// What this program waits for, for the message after limit_seconds.
const char* volatile awaited = "";

void end_at_limit(int) {
  for (const char* part : {"kill_inside: two minutes were too short for ", awaited, "\n"}) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  _exit(1);
}

[[noreturn]] void give_up(const char* what) {
  const int error = errno;
  std::fprintf(stderr, "kill_inside: %s: %s\n", what, std::strerror(error));
  std::exit(error == EPERM || error == EACCES || error == ENOSYS ? 77 : 1);
}

// The address at which the library was loaded; 0 if it was not.
std::uint64_t address_of(const std::string& process, const std::string& library) {
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/" + library)) return std::stoull(line, nullptr, 16);
  }
  return 0;
}

// Makes the calling process the tracer of all threads of another one.
void trace(const std::string& process) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + process + "/task")) {
    const auto id = static_cast<pid_t>(std::stol(thread.path().filename()));
    if (ptrace(PTRACE_SEIZE, id, nullptr, PTRACE_O_TRACECLONE) != 0) give_up("PTRACE_SEIZE");
  }
}

// A function with a breakpoint at its first instruction.
class breakpoint {
 public:
  breakpoint(const std::string& process, std::uint64_t address)
      : memory_(open(("/proc/" + process + "/mem").c_str(), O_RDWR | O_CLOEXEC)),
        address_(address) {
    if (memory_ < 0 || pread(memory_, &first_, 1, static_cast<off_t>(address_)) != 1) {
      give_up("reading the function");
    }
  }
  // The process that a cma_process at this address describes.
  pid_t process_at(std::uint64_t address) const {
    std::uint32_t found = 0;
    if (pread(memory_, &found, sizeof found, static_cast<off_t>(address)) != sizeof found) {
      give_up("reading the argument");
    }
    return static_cast<pid_t>(found);
  }
  void set() const { write(0xcc); }
  void remove() const { write(first_); }
  // Waits until a thread calls the function, and returns it.
  pid_t wait(user_regs_struct& registers) const;

 private:
  void write(unsigned char byte) const {
    if (pwrite(memory_, &byte, 1, static_cast<off_t>(address_)) != 1) give_up("the breakpoint");
  }

  int memory_;
  std::uint64_t address_;
  unsigned char first_ = 0;
};

pid_t breakpoint::wait(user_regs_struct& registers) const {
  for (;;) {
    int status = 0;
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) give_up("the process ended early");
    if (!WIFSTOPPED(status)) continue;
    const bool event = status >> 16 != 0;
    int signal = event ? 0 : WSTOPSIG(status);
    if (signal == SIGTRAP) {
      if (ptrace(PTRACE_GETREGS, thread, nullptr, &registers) != 0) give_up("PTRACE_GETREGS");
      if (registers.rip == address_ + 1) {
        registers.rip = address_;
        if (ptrace(PTRACE_SETREGS, thread, nullptr, &registers) != 0) give_up("PTRACE_SETREGS");
        return thread;
      }
      signal = 0;
    }
    ptrace(PTRACE_CONT, thread, nullptr, signal);
  }
}

// Lets a thread that has called a function execute some instructions, until the function returns.
// Returns whether it executed all of them before that.
bool step(pid_t thread, user_regs_struct& registers, long steps) {
  const std::uint64_t stack = registers.rsp;
  for (long i = 0; i < steps; ++i) {
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, thread, nullptr, 0) != 0) give_up("PTRACE_SINGLESTEP");
    if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) give_up("waitpid");
    if (ptrace(PTRACE_GETREGS, thread, nullptr, &registers) != 0) give_up("PTRACE_GETREGS");
    if (registers.rsp > stack) return false;
  }
  return true;
}

// Stops all threads of a process but one, which is already stopped.
void stop_others(const std::string& process, pid_t thread) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/" + process + "/task")) {
    const auto id = static_cast<pid_t>(std::stol(each.path().filename()));
    int status = 0;
    if (id == thread || ptrace(PTRACE_INTERRUPT, id, nullptr, 0) != 0) continue;
    if (waitpid(id, &status, __WALL) != id) give_up("waitpid");
  }
}

// Waits until no process can read the memory of that one any more.
void wait_for_end(pid_t process) {
  const std::string status = "/proc/" + std::to_string(process) + "/status";
  for (bool running = true; running;) {
    running = false;
    std::ifstream lines(status);
    for (std::string line; std::getline(lines, line);) running |= line.starts_with("VmSize:");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && (argc != 6 || std::strcmp(argv[5], "owner") != 0)) return 2;
  const bool kills_owner = argc == 6;
  const std::string process = argv[1];
  const std::uint64_t library = address_of(process, argv[2]);
  if (library == 0) give_up("the library is not loaded");
  const std::uint64_t address = library + std::stoull(argv[3], nullptr, 16);
  std::signal(SIGALRM, end_at_limit);
  alarm(limit_seconds);
  awaited = "attaching to the threads of the process";
  trace(process);
  const breakpoint entry(process, address);
  user_regs_struct registers{};
  pid_t thread = 0;
  pid_t killed = static_cast<pid_t>(std::stol(process));
  const auto search_end = clock_type::now() + search_time;
  for (int call = 1;; ++call) {
    entry.set();
    awaited = "a call of the function";
    thread = entry.wait(registers);
    entry.remove();
    if (kills_owner) killed = entry.process_at(registers.rdi);
    awaited = "the instructions of a call";
    if (step(thread, registers, std::stol(argv[4])) || call == calls_max) break;
    if (clock_type::now() > search_end) break;
    ptrace(PTRACE_CONT, thread, nullptr, 0);
  }
  std::printf("%llx %d\n", static_cast<unsigned long long>(registers.rip) - library, killed);
  std::fflush(stdout);
  awaited = "the end of the killed process";
  if (kills_owner) {  // The reader notices it before the failure detector of its process.
    stop_others(process, thread);
    kill(killed, SIGKILL);
    wait_for_end(killed);
    ptrace(PTRACE_DETACH, thread, nullptr, 0);
    usleep(200'000);
    return 0;  // and all threads of the process go on
  }
  kill(killed, SIGKILL);
  // Its parent learns of its end when the tracer has seen the ends of all threads.
  while (waitpid(-1, nullptr, __WALL) > 0) {
  }
  return 0;
}
