// SPDX-License-Identifier: Apache-2.0
// Kills a process within a function: kill_inside <process> <library> <address> <steps>. When a
// thread of the process enters the function at that address of the library, it executes so many
// further instructions there, or less if the function returns before. Then the whole process is
// killed. Prints the address at which that thread was.
//
// Exit code: 77 if the system does not permit it, 1 after other errors or if no thread enters the
// function within ten seconds. See killed_inside_test.py.
#include <cerrno>
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string process = argv[1];
  const std::uint64_t library = address_of(process, argv[2]);
  if (library == 0) give_up("the library is not loaded");
  const std::uint64_t address = library + std::stoull(argv[3], nullptr, 16);
  alarm(10);
  trace(process);
  const breakpoint entry(process, address);
  user_regs_struct registers{};
  for (int call = 1;; ++call) {
    entry.set();
    const pid_t thread = entry.wait(registers);
    entry.remove();
    if (step(thread, registers, std::stol(argv[4])) || call == 500) break;
    ptrace(PTRACE_CONT, thread, nullptr, 0);
  }
  std::printf("%llx\n", static_cast<unsigned long long>(registers.rip) - library);
  std::fflush(stdout);
  kill(static_cast<pid_t>(std::stol(process)), SIGKILL);
  // Its parent learns of its end when the tracer has seen the ends of all threads.
  while (waitpid(-1, nullptr, __WALL) > 0) {
  }
  return 0;
}
