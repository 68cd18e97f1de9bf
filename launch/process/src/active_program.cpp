// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/atomic.hpp>
#include <apgas/errors.hpp>
#include <apgas/scheduler/fiber.hpp>

#include "active_program.hpp"
#include "process_exit.hpp"

namespace apgas::inline v0::launch {
namespace {

// Which process has a program, and of which kind, in one word; it publishes nothing.
constexpr int kind_bits = 8;
base::atomic<std::uint64_t> owner{0};

std::uint64_t owned_by_this_process(program_kind kind) noexcept {
  return static_cast<std::uint64_t>(getpid()) << kind_bits | static_cast<std::uint64_t>(kind);
}

constexpr program_kind kind_of(std::uint64_t word) noexcept {
  return static_cast<program_kind>(word & ((1U << kind_bits) - 1));
}

const char* name_of(program_kind kind) noexcept {
  return kind == program_kind::run ? "apgas::run" : "apgas::runtime";
}

[[noreturn]] void refuse(program_kind kind, std::uint64_t present) {
  if (present != owned_by_this_process(kind_of(present))) {
    throw illegal_operation(fmt::format(
        "{} was started in a process that was forked while {} was active in its parent, whose "
        "threads it does not have; fork before the start, or start a new program with exec",
        name_of(kind), name_of(kind_of(present))));
  }
  if (kind == program_kind::run && kind_of(present) == program_kind::run) {
    throw illegal_operation(
        "apgas::run was called while it is active in another thread; one program at a time");
  }
  throw illegal_operation(fmt::format(
      "{} was started while {} is active in this process, which has one program at a time; {}",
      name_of(kind), name_of(kind_of(present)),
      kind_of(present) == program_kind::runtime ? "call run() of that runtime, or end it first"
                                                : "wait until run has returned"));
}

}  // namespace

active_program::active_program(program_kind kind) {
  if (scheduler::on_fiber()) {
    throw illegal_operation(
        kind == program_kind::run
            ? "apgas::run was called by a task; it starts the program, once at a time"
            : "apgas::runtime was made by a task, which runs in a program already; make it on a "
              "thread of your own, before the first task");
  }
  std::uint64_t present = 0;
  if (!owner.compare_exchange_strong(present, owned_by_this_process(kind), base::relaxed,
                                     base::relaxed)) {
    refuse(kind, present);
  }
  monitor_process_exit();
}

active_program::~active_program() { owner.store(0, base::relaxed); }

program_kind active_kind() noexcept {
  const std::uint64_t present = owner.load(base::relaxed);
  const program_kind kind = kind_of(present);
  return present == owned_by_this_process(kind) ? kind : program_kind::none;
}

}  // namespace apgas::inline v0::launch
