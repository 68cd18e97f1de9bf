// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <apgas/base/choices.hpp>

// The schedule of a program that runs with APGAS_SEED, in one process: only one thread of the
// places runs at a time, and random numbers from the seed decide which one continues, what it does
// next and which message arrives first. So a run with the same seed, program and input repeats the
// same schedule. docs/debugging/schedules.md is for users; turns.hpp describes how it works.
namespace apgas::inline v0::scheduler {

class turns;
struct place_waits;

class seeded_schedule {
 public:
  // The schedule of `places` places, all in this process. Starts a thread.
  // Throws: std::system_error if the system refuses the thread.
  seeded_schedule(std::uint64_t seed, int places);
  seeded_schedule(const seeded_schedule&) = delete;
  seeded_schedule& operator=(const seeded_schedule&) = delete;
  // Requires: the schedulers that use it have been destroyed.
  ~seeded_schedule();

  std::uint64_t seed() const noexcept;

  using explain_function = std::function<place_waits()>;
  // Sets the function that describes what the tasks of a place wait for. The report of a deadlock
  // in a run with several places needs it. It may be called until the scheduler of that place is
  // destroyed. Context: any thread, after the start of that scheduler and before place_is_ready().
  void explain_with(int place, explain_function f) noexcept;

  // Says that a place has started its workers, and that place 0 has submitted its main task. The
  // first turn begins when all places have said so.
  // Context: any thread, once for each place.
  void place_is_ready() noexcept;

  // Ends the schedule, with its fingerprint. From then on all workers run at the same time, and
  // nothing is decided by the seed any more. Later calls have no effect.
  // Context: any thread.
  void end() noexcept;

  // What decides which message is delivered next.
  base::choice_source& choices() noexcept;

  // Describes the schedule in one line: seed, fingerprint, number of decisions, and whether
  // something happened that the seed does not reproduce. Two runs with the same fingerprint have
  // made the same decisions. Context: any thread.
  std::string description() const;

  turns& internals() noexcept { return *turns_; }

 private:
  std::unique_ptr<turns> turns_;
};

}  // namespace apgas::inline v0::scheduler
