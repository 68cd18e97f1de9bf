// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include <apgas/base/exit_reason.hpp>
#include <apgas/base/safe_line.hpp>

#include "readable.hpp"
#include "stack_overflow.hpp"
#include "stack_pool.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t signal_stack_bytes = 65536;

struct sigaction previous_segv;
struct sigaction previous_bus;

// Adds the task that the fiber runs.
void describe_task(const fiber& f, base::safe_line& line) noexcept {
  line << " in task ";
  if (f.task.name != nullptr) line << "\"" << f.task.name << "\" ";
  if (f.task.site.line() != 0) {
    line << "spawned at " << f.task.site.file_name() << ":" << std::uint64_t{f.task.site.line()}
         << " (" << f.task.site.function_name() << ")";
  } else {
    line << "main";
  }
}

// Prints the report of an overflow. The process ends with exit code `code` afterwards.
void describe(const fiber& f, int code) {
  base::safe_line line;
  line << "apgas: stack overflow";
  describe_task(f, line);
  line << ": its stack of " << std::uint64_t{all_stacks.mask + 1}
       << " bytes is used up; raise APGAS_STACK_SIZE (bytes), recurse less deeply, or keep large "
          "arrays elsewhere";
  line.print();
  base::exit_reason_printed(code);
}

// Passes the signal on to the handler that was installed before ours.
void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& old = signal == SIGSEGV ? previous_segv : previous_bus;
  if ((old.sa_flags & SA_SIGINFO) != 0) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    old.sa_handler(signal);
  } else {
    ::signal(signal, SIG_DFL);  // the instruction faults again, without a handler
  }
}

// Lies at the lower end of each of our signal stacks, so that the handler recognises them.
struct ownership {
  static constexpr std::uint64_t marked = 0x6170676173736967;
  std::uint64_t mark;
  const base::atomic<const fiber*>* running;
  const base::atomic<bool>* searches;
};

// Returns the note of the interrupted worker, or null if the thread is not a worker.
// Context: signal handler.
const ownership* interrupted_worker() {
  stack_t here = {};
  if (sigaltstack(nullptr, &here) != 0 || here.ss_size != signal_stack_bytes) return nullptr;
  const auto* note = static_cast<const ownership*>(here.ss_sp);
  return note->mark == ownership::marked ? note : nullptr;
}

// Returns whether the name and the spawn site of the task can be read.
bool is_intact(const task_state& task) noexcept {
  return (task.name == nullptr || is_text(task.name)) && is_readable(task.site);
}

// Adds the task that this thread runs, if it is a worker. The record of the fiber lies above the
// frames of the task, which may have overwritten it. Context: signal handler.
void describe_interrupted(base::safe_line& line) noexcept {
  const ownership* const note = interrupted_worker();
  if (note == nullptr || note->searches->load(base::relaxed)) return;
  const fiber* const f = note->running->load(base::relaxed);
  if (f == nullptr || fiber_of_address(f) != f || !is_intact(f->task)) return;
  if (f->task.name == nullptr && f->task.site.line() == 0) {
    line << (f->runs_main ? " in main" : " in a task without a spawn site");
  } else {
    describe_task(*f, line);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const ownership* const note = interrupted_worker();
  const fiber* const f = note == nullptr ? nullptr : note->running->load(base::relaxed);
  const bool among_stacks = fiber_of_address(info->si_addr) != nullptr;
  if (f != nullptr && among_stacks && info->si_addr < f->stack_bottom) {
    describe(*f, 128 + signal);
    ::signal(signal, SIG_DFL);
    return;  // the instruction faults again, so the process ends by this signal
  }
  chain(signal, info, context);
}

}  // namespace

void catch_overflows() noexcept {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_segv);
    sigaction(SIGBUS, &action, &previous_bus);
    base::set_thread_description(describe_interrupted);
    return true;
  }();
  static_cast<void>(installed);
}

signal_stack::signal_stack(const base::atomic<const fiber*>& running,
                           const base::atomic<bool>& searches)
    : memory_(mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0)) {
  if (memory_ == MAP_FAILED) return;
  ::new (memory_) ownership{ownership::marked, &running, &searches};
  stack_t stack = {};
  stack.ss_sp = memory_;
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
}

signal_stack::~signal_stack() {
  if (memory_ == MAP_FAILED) return;
  stack_t off = {};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(memory_, signal_stack_bytes);
}

void report_overflow(const fiber& f) noexcept {
  describe(f, 128 + SIGABRT);
  std::abort();
}

}  // namespace apgas::inline v0::scheduler
