// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/accumulator_core.hpp>
#include <apgas/sync/place_state.hpp>

#include "phase_errors.hpp"

namespace apgas::inline v0::sync {
namespace {

[[noreturn]] void fail(phase_kind kind, const std::string& text) {
  if (kind == phase_kind::clock) throw clock_use_error(text);
  throw phaser_use_error(text);
}

const char* noun(phase_kind kind) { return kind == phase_kind::clock ? "clock" : "phaser"; }

const char* mode_name(phaser_mode m) {
  switch (m) {
    case phaser_mode::signal_wait_next:
      return "signal_wait_next";
    case phaser_mode::signal_wait:
      return "signal_wait";
    case phaser_mode::signal:
      return "signal";
    default:
      return "wait";
  }
}

}  // namespace

void check_not_in_single(const registration& r, const char* operation) {
  if (r.in_single) {
    fail(r.kind, fmt::format("{} was called inside the next_single closure of the same phaser, "
                             "while its tasks wait for the closure; return from the closure first",
                             operation));
  }
}

void throw_not_registered(phase_kind kind, const phase_id& id, const char* operation) {
  if (id.number == 0) {
    fail(kind, fmt::format("{} was called on an empty {}; make one with {}", operation, noun(kind),
                           kind == phase_kind::clock ? "clock::make()" : "phaser(mode)"));
  }
  const char* const clause = kind == phase_kind::clock ? "clocked(c)" : "phased(ph, mode)";
  fail(kind, fmt::format("{} was called by a task that is not registered on the {}: it was spawned "
                         "without {}, is a branch of a fork_join or loop, or has dropped it; spawn "
                         "it with async({}, f)",
                         operation, noun(kind), clause, clause));
}

void throw_given_twice(phase_kind kind, const char* operation) {
  fail(kind, fmt::format("{} was given the same {} twice; name each once", operation, noun(kind)));
}

void throw_no_implicit_clock(const char* operation) {
  throw clock_use_error(fmt::format(
      "{} was called by a task that is not registered on the clock of a clocked_finish; call it in "
      "the body of clocked_finish or in a task that clocked_async spawned there",
      operation));
}

void check_may_signal(const registration& r, const char* operation) {
  if (!r.signals()) {
    fail(r.kind, fmt::format("{} was called by a task that is registered in mode wait, which may "
                             "not signal; register it in mode signal_wait",
                             operation));
  }
  check_not_in_single(r, operation);
}

void check_may_wait(const registration& r, const char* operation) {
  if (!r.waits()) {
    fail(r.kind, fmt::format("{} was called by a task that is registered in mode signal, which may "
                             "not wait; register it in mode signal_wait",
                             operation));
  }
  check_not_in_single(r, operation);
}

void check_is_home(const registration& r, const char* operation) {
  if (!r.node->core().is_replica()) return;
  const int home = phase_core::home_of(r.number);
  fail(r.kind, fmt::format("{} was called away from the home of the phaser, place {}, the only "
                           "place where it may be called; call it there, or make the phaser here",
                           operation, home));
}

void check_may_single(const registration& r, const char* operation) {
  if (r.mode != phaser_mode::signal_wait_next) {
    fail(r.kind, fmt::format("{} was called by a task that is registered in mode {}; register it "
                             "in mode signal_wait_next",
                             operation, mode_name(r.mode)));
  }
  check_not_in_single(r, operation);
  if (r.has_signalled()) {
    fail(r.kind, fmt::format("{} was called by a task that has already signalled this phase, which "
                             "may be over; call it instead of signal",
                             operation));
  }
}

void refuse_send(const registration& r, const char* operation) {
  check_may_signal(r, operation);
  if (r.has_signalled()) {
    fail(r.kind, fmt::format("{} was called by a task that has already signalled this phase, whose "
                             "reduction may be complete; send before signalling",
                             operation));
  }
}

void refuse_read(const registration& r, const char* operation) {
  check_may_wait(r, operation);
  throw_no_result(-1);
}

void throw_no_result(std::int64_t phase) {
  fail(phase_kind::phaser,
       fmt::format(
           "accumulator::result was called, but phase {} has no result: the call returns the "
           "result of the phase before the task's own; wait until the first phase is over",
           phase));
}

void throw_not_sendable(const registration& r, const char* operation) {
  fail(phase_kind::phaser,
       fmt::format(
           "{} was called away from the home of the phaser, place {}, on an accumulator whose "
           "values or operation cannot be sent; make the value type sendable and give the "
           "operation an identity<T>(), or call it at the home",
           operation, phase_core::home_of(r.number)));
}

void check_may_await_result() { static_cast<void>(suspendable_fiber("accumulator::result")); }

void throw_bad_tree(const char* what, int given, std::int64_t most) {
  fail(phase_kind::phaser,
       fmt::format("phaser was given {} {}; give at least 1 and a tree of at most {} {}, or "
                   "phaser::automatic",
                   what, given, most, what[0] == 't' ? "tiers" : "leaves"));
}

std::size_t workers_of(const scheduler::fiber& self) noexcept {
  return static_cast<std::size_t>(self.on->home->num_workers());
}

void check_may_give(const registration& r, const scheduler::fiber& self, phaser_mode mode,
                    const char* operation) {
  if (r.kind == phase_kind::phaser && r.finish != self.task.finish) {
    fail(r.kind,
         fmt::format("{} was given a phaser that the task acquired outside the innermost finish, "
                     "which would wait for a child that waits for this task; spawn the child "
                     "outside that finish, make a phaser inside it, or use a clock",
                     operation));
  }
  const bool more = mode < r.mode || (mode == phaser_mode::wait && r.mode == phaser_mode::signal);
  if (more) {
    fail(r.kind,
         fmt::format("{} was asked for a child in mode {}, but the task itself has only {}; "
                     "ask for that or less",
                     operation, mode_name(mode), mode_name(r.mode)));
  }
  check_not_in_single(r, operation);
}

}  // namespace apgas::inline v0::sync
