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

// Polls until done() returns true, but only for the time of a few round trips within a host, and
// only while the worker has nothing else to do. Returns whether done() has returned true.
// Context: as poll_in_place().
template <class Done>
bool wait_in_place(Done done) noexcept {
  constexpr std::uint64_t patience_cycles = 8'000;
  const std::uint64_t begun = base::cycles();
  for (;;) {
    if (done()) return true;
    if (!poll_in_place() || base::cycles() - begun > patience_cycles) return done();
  }
}

}  // namespace apgas::inline v0::scheduler
