// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <linux/membarrier.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// Counts instructions of one thread of a child process. The thread is stepped by ptrace,
// instruction by instruction, while all other threads run at full speed. It calls lap() again and
// again; the instructions between two of these calls are a lap.
namespace test {

struct instruction_counts {
  std::uint64_t instructions = 0;
  std::uint64_t locked = 0;  // instructions that lock the bus or are full fences
  std::uint64_t system_calls = 0;
  std::uint64_t branches = 0;  // conditional ones
};

inline constexpr unsigned char breakpoint = 0xcc;

// Ends a lap and begins the next one. Context: the thread that is stepped.
inline void lap() { asm volatile("int3" ::: "memory"); }

[[noreturn]] inline void give_up(const char* what) {
  const int error = errno;
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(error));
  std::exit(error == EPERM || error == EACCES || error == ENOSYS ? 77 : 1);
}

// Whether the system permits a thread to execute a fence on behalf of all others.
inline bool membarrier_available() {
  const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

// What an instruction of x86-64 does, as far as it is counted.
struct decoded {
  bool repeated = false;  // has a prefix with which it is executed several times
  bool branch = false;
  bool locked = false;
  bool system_call = false;
};

inline decoded decode(std::span<const unsigned char> code) {
  decoded result;
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return k < code.size() ? code[k] : 0; };
  const auto is_prefix = [](int byte) {
    constexpr int others[] = {0x66, 0x67, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};
    return std::ranges::find(others, byte) != std::end(others) || (byte & 0xf0) == 0x40;  // REX
  };
  for (;; ++i) {
    if (at(i) == 0xf0) {
      result.locked = true;
    } else if (at(i) == 0xf2 || at(i) == 0xf3) {
      result.repeated = true;
    } else if (!is_prefix(at(i))) {
      break;
    }
  }
  const bool exchange = at(i) == 0x86 || at(i) == 0x87;  // xchg, which locks if it names memory
  if (exchange && at(i + 1) < 0xc0) result.locked = true;
  const bool mfence = at(i) == 0x0f && at(i + 1) == 0xae && at(i + 2) == 0xf0;
  if (mfence && !result.repeated) result.locked = true;
  result.system_call = at(i) == 0x0f && at(i + 1) == 0x05;
  const bool near_branch = at(i) == 0x0f && (at(i + 1) & 0xf0) == 0x80;
  result.branch = (at(i) & 0xf0) == 0x70 || near_branch;
  return result;
}

class single_stepper {
 public:
  // Becomes the tracer of the thread, which must belong to a child. If the system does not permit
  // it, the program ends with exit code 77.
  explicit single_stepper(pid_t thread) : thread_(thread) {
    if (ptrace(PTRACE_SEIZE, thread_, nullptr, PTRACE_O_EXITKILL) != 0) give_up("PTRACE_SEIZE");
  }
  // Lets the thread run on at full speed. Requires: it is stopped in lap().
  ~single_stepper() { ptrace(PTRACE_DETACH, thread_, nullptr, nullptr); }
  single_stepper(const single_stepper&) = delete;
  single_stepper& operator=(const single_stepper&) = delete;

  // Waits until the thread calls lap() for the first time.
  void wait_for_first_lap() {
    while (wait() != SIGTRAP || byte_before() != breakpoint) resume(PTRACE_CONT);
    read_registers();
  }

  // Executes the instructions until the next call of lap(), with a pause before each of them.
  instruction_counts step_lap(useconds_t pause) {
    instruction_counts counts;
    for (std::uint64_t before = 0;; before = registers_.rip) {
      unsigned char code[16];
      const std::size_t bytes = read_code(registers_.rip, code);
      if (bytes == 0) give_up("reading the code");
      if (code[0] == breakpoint) {
        ++registers_.rip;
        if (ptrace(PTRACE_SETREGS, thread_, nullptr, &registers_) != 0) give_up("PTRACE_SETREGS");
        return counts;
      }
      const decoded next = decode({code, bytes});
      if (!next.repeated || registers_.rip != before) {
        ++counts.instructions;
        counts.branches += next.branch ? 1 : 0;
        counts.locked += next.locked ? 1 : 0;
        counts.system_calls += next.system_call ? 1 : 0;
      }
      if (pause != 0) usleep(pause);
      do resume(PTRACE_SINGLESTEP);
      while (wait() != SIGTRAP);
      read_registers();
    }
  }

 private:
  // Waits until the thread stops. Returns the signal; one that is not the tracer's is delivered
  // when the thread resumes.
  int wait() {
    int status = 0;
    if (waitpid(thread_, &status, __WALL) != thread_ || !WIFSTOPPED(status)) {
      std::fprintf(stderr, "the thread ended while it was stepped\n");
      std::exit(1);
    }
    const int signal = WSTOPSIG(status);
    deliver_ = status >> 16 != 0 || signal == SIGTRAP ? 0 : signal;
    return signal;
  }
  void resume(__ptrace_request how) {
    if (ptrace(how, thread_, nullptr, deliver_) != 0) give_up("resuming the thread");
  }
  void read_registers() {
    if (ptrace(PTRACE_GETREGS, thread_, nullptr, &registers_) != 0) give_up("PTRACE_GETREGS");
  }
  // Reads the code at an address; fewer bytes if the following page is not mapped.
  std::size_t read_code(std::uint64_t address, std::span<unsigned char> to) const {
    constexpr std::size_t page = 4096;
    const std::size_t first = std::min<std::size_t>(to.size(), page - address % page);
    const iovec here{to.data(), to.size()};
    const iovec there[] = {{reinterpret_cast<void*>(address), first},
                           {reinterpret_cast<void*>(address + first), to.size() - first}};
    const ssize_t bytes = process_vm_readv(thread_, &here, 1, there, 2, 0);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  }
  unsigned char byte_before() {
    read_registers();
    unsigned char byte = 0;
    read_code(registers_.rip - 1, {&byte, 1});
    return byte;
  }

  const pid_t thread_;
  user_regs_struct registers_{};
  int deliver_ = 0;
};

// Threads of a child that do not run. Each is stopped where it waits in a system call, since it
// holds no lock there.
class stopped_threads {
 public:
  // Stops all threads of the process except two.
  stopped_threads(pid_t process, std::array<pid_t, 2> running) {
    const auto tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& each : std::filesystem::directory_iterator(tasks)) {
      const auto thread = static_cast<pid_t>(std::stol(each.path().filename()));
      if (std::ranges::find(running, thread) == running.end()) stop(thread);
    }
  }
  ~stopped_threads() {
    for (const pid_t each : threads_) ptrace(PTRACE_DETACH, each, nullptr, nullptr);
  }
  stopped_threads(const stopped_threads&) = delete;
  stopped_threads& operator=(const stopped_threads&) = delete;

 private:
  void stop(pid_t thread) {
    if (ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_EXITKILL) != 0) give_up("PTRACE_SEIZE");
    for (;; usleep(100)) {
      int status = 0;
      user_regs_struct registers{};
      if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0) give_up("PTRACE_INTERRUPT");
      if (waitpid(thread, &status, __WALL) != thread) give_up("waitpid");
      if (ptrace(PTRACE_GETREGS, thread, nullptr, &registers) != 0) give_up("PTRACE_GETREGS");
      const auto result = static_cast<long long>(registers.rax);
      const bool restarts = result <= -512 && result >= -516;  // ERESTARTSYS and its like
      if (result == -EINTR || restarts) break;
      if (ptrace(PTRACE_CONT, thread, nullptr, nullptr) != 0) give_up("PTRACE_CONT");
    }
    threads_.push_back(thread);
  }

  std::vector<pid_t> threads_;
};

}  // namespace test
