// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/api.hpp>
#include <apgas/base/cycles.hpp>

// Waiting in place: a task whose worker has nothing else to do polls the network itself for a
// moment, on its own stack. If the message for which it waits arrives meanwhile, the task goes on
// without having been suspended.
namespace apgas::inline v0::scheduler {

// Polls the network once, and watches for arrivals for a fraction of a microsecond. Returns false,
// without doing so, if the worker has other work or shares its core; then the task is to be
// suspended.
// Context: task, holding no lock. Runs the handlers of messages, but no other task.
APGAS_API bool poll_in_place() noexcept;

// How long a task waits in place: for a few round trips within a host, or until another place has
// most likely read a megabyte of this one's memory.
inline constexpr std::uint64_t patience_cycles = 8'000;
inline constexpr std::uint64_t reading_patience_cycles = 500'000;

// Polls until done() returns true, but only for `patience` cycles, and only while the worker has
// nothing else to do. Returns whether done() has returned true.
// Context: as poll_in_place().
template <class Done>
bool wait_in_place(Done done, std::uint64_t patience = patience_cycles) noexcept {
  if (done()) return true;
  const std::uint64_t begun = base::cycles();
  for (;;) {
    const bool polled = poll_in_place();
    if (done()) return true;  // before the clock is read, which takes longer than the look
    if (!polled || base::cycles() - begun > patience) return false;
  }
}

}  // namespace apgas::inline v0::scheduler
