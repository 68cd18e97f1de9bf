// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <apgas/base/settings.hpp>
#include <apgas/scheduler/trace_recorder.hpp>
#include <apgas/sync/place_state.hpp>

#include "trace_index.hpp"
#include "traced_network.hpp"

// The trace of a job (APGAS_TRACE), as one place sees it: its recorder, and at the end the file.
//
// At the start place 0 compares the clocks of all places with its own, and tells them to record. At
// the end it stops them, compares the clocks again, fetches what they have recorded, and writes one
// file. If that fails, or if the process ends in any other way, each place leaves what it has in a
// file of its own (record_path()), from which apgas-trace-merge makes the trace.
namespace apgas::inline v0::launch {

class job_trace {
 public:
  // `network` and `receiver` are those of the place, between which the endpoint will stand.
  job_trace(const base::settings& settings, comm::transport& network, comm::frame_sink& receiver);
  job_trace(const job_trace&) = delete;
  job_trace& operator=(const job_trace&) = delete;
  ~job_trace();

  // What the endpoint is to use instead of them.
  comm::transport& network() noexcept { return network_; }
  comm::frame_sink& receiver() noexcept { return receiver_; }

  // Makes the recorder for that many workers, which is the observer of the scheduler.
  // Throws: launch_error if place 0 cannot write the file; std::bad_alloc.
  scheduler::task_observer& start(int workers);
  void set_scheduler(scheduler::scheduler& workers) noexcept { recorder_->set_scheduler(workers); }

  // Place 0: compares the clocks and begins to record at all places. Context: a thread that is no
  // worker, before the first task of the program.
  void begin(sync::place_state& place) noexcept;
  // Place 0: ends the recording at all places and writes the file. A failure causes a warning.
  // Context: a thread that is no worker; after the last task, while all places still answer.
  void end(sync::place_state& place) noexcept;

 private:
  class work_at_places;

  // What tasks call at each place.
  static job_trace* of_this_place();
  static std::int64_t clock_here();
  static void record_here();
  static std::uint64_t stop_here();
  static std::vector<char> piece_here(std::uint64_t from);
  static void written_here();

  void compare_clocks(bool at_start);
  void collect();
  void leave_record(bool complete) noexcept;
  static void leave_records() noexcept;

  const std::string path_;
  const std::string record_path_;  // of this place
  const int here_;
  const int places_;
  const std::size_t bytes_of_worker_;
  const bool only_stolen_;
  recorder_pointer recorder_of_network_{nullptr};
  traced_transport network_;
  traced_sink receiver_;
  std::unique_ptr<scheduler::trace_recorder> recorder_;
  std::vector<std::byte> recorded_;   // from stop_here() on
  std::vector<clock_offset> clocks_;  // at place 0
  sync::place_state* place_ = nullptr;

  // All objects of the process.
  job_trace* next_ = nullptr;
  base::atomic<bool> unwritten_{false};  // the record is in no file yet
  const pid_t process_;                  // a child that it forks leaves no record
};

}  // namespace apgas::inline v0::launch
