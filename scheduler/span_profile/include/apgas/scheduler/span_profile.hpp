// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <apgas/base/cycles.hpp>
#include <apgas/scheduler/task_observer.hpp>

// The profile of work and span of a job (APGAS_PROFILE=span): what its tasks compute, and the
// longest sequence of computations that depend on each other. It follows the whole run, and says at
// the end by what factor more workers could make it faster, and what bounds that factor.
//
// Each place has one. It observes the tasks of the place, and adds to each frame the longest path
// that leads to it, so that paths go on at other places. At the end place 0 gets what all others
// have found, and reports.
//
// The time of a task counts while it runs. The profile stops the clock while it records; what it
// cannot see, which is how its hooks are entered and left, is measured at the start and subtracted.
// Time in which a task waits does not count, and neither does time on helper threads.
namespace apgas::inline v0::scheduler {

class span_recorder;

struct span_profile_config {
  int place = 0;
  int places = 1;
  int workers = 1;
  // The file for the report as JSON; empty: the report is printed on standard error.
  std::string file = {};
  // The clock of the thread of a worker, and whether it counts nanoseconds. Several places must
  // count nanoseconds, since the processors of their hosts may count differently.
  std::uint64_t (*clock)() noexcept = &base::cycles;
  bool nanoseconds = false;
  // Whether another observer sees the run, too (observer_pair), whose causes are passed around.
  bool shares_run = false;
};

// What the profile needs to know of a frame. Null stands for unknown and for none.
struct departing_frame {
  const void* phase = nullptr;  // the clock or phaser that it is about
  bool from_home = false;       // its home sends the frame, which is about the phase `number`
  std::uint64_t number = 0;
  bool returns_credit = false;  // of a finish
};
struct arriving_frame {
  bool is_of_phase = false;  // about a clock or phaser
  const void* phase = nullptr;
  const void* call = nullptr;            // for which a task waits, and to which this is the reply;
                                         // or the frame itself, which a task takes later
  const task_counter* finish = nullptr;  // whose credit returns
};

class span_profile {
 public:
  // Place 0 opens the file. Throws: launch_error if it cannot be written; std::bad_alloc.
  explicit span_profile(const span_profile_config& c);
  span_profile(const span_profile&) = delete;
  span_profile& operator=(const span_profile&) = delete;
  ~span_profile();

  // What the scheduler informs. It lives as long as this object, which must outlive the scheduler.
  task_observer& observer() noexcept;

  // Returns what the frame that the caller is about to send must carry. Context: any thread.
  std::vector<std::uint64_t> departs(const departing_frame& frame) noexcept;
  // A frame has arrived that carries `words`; none at all stand for an empty path. Until handled(),
  // this thread runs its handler. Returns false, and expects no call of handled(), if these are not
  // what departs() has returned.
  // Context: handler.
  bool arrives(const arriving_frame& frame, std::span<const std::uint64_t> words) noexcept;
  void handled() noexcept;

  // The end, when the scheduler has ended at this place. Each place but 0 sends the result of
  // part() to place 0, which calls add_part() with it and then report(), each once.
  std::vector<std::uint64_t> part();
  // Returns false if this is not a part. Tasks of this place may still be ending.
  // Context: any thread, one at a time.
  bool add_part(std::span<const std::uint64_t> words);
  // Writes the report. Warns if the file cannot be written.
  void report();

 private:
  const span_profile_config config_;
  std::ofstream file_;
  std::unique_ptr<span_recorder> recorder_;
};

}  // namespace apgas::inline v0::scheduler
