// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>

#include <apgas/base/settings.hpp>
#include <apgas/scheduler/observer_pair.hpp>
#include <apgas/scheduler/trace_recorder.hpp>
#include <apgas/sync/place_state.hpp>

#include "trace_index.hpp"
#include "traced_frames.hpp"

// The trace of a job, as one place sees it: its recorder, and at the end the file. It is that of
// APGAS_TRACE, or a tool begins and ends it while the job runs, maybe several times.
//
// At the start place 0 compares the clocks of all places with its own, and tells them to record. At
// the end it stops them, compares the clocks again, fetches what they have recorded, and writes one
// file. If that fails, or if the process ends in any other way, each place leaves what it has in a
// file of its own (record_path()), from which apgas-trace-merge makes the trace. The process that
// started the places calls it, or the last process itself if it is the whole job.
//
// Pairs
//   P2  A thread that sees unwritten_ == true sees the recorder and the paths.
namespace apgas::inline v0::launch {

// What a tool is told.
struct trace_status {
  const char* state =
      "";            // off, starting, recording, stopping, or unwritten: writing it has failed
  std::string path;  // of this trace, or the last one
  std::vector<std::string> problems;  // of the last start or stop
};

class job_trace {
 public:
  // `receiver` is the sink of the endpoint of the place.
  job_trace(const base::settings& settings, comm::frame_sink& receiver);
  job_trace(const job_trace&) = delete;
  job_trace& operator=(const job_trace&) = delete;
  ~job_trace();

  // Says that this process is the whole job and was not started by a launcher, so that it makes the
  // trace itself of what it leaves. Context: before any object is made.
  static void job_is_this_process() noexcept;

  // The place has its scheduler and its endpoint. `other` is its observer, or null; it remains one.
  // With a seed and APGAS_TRACE the place begins to record, since tasks that tell it to would be a
  // part of the schedule.
  // Throws: launch_error if place 0 cannot write the file of APGAS_TRACE.
  void start(sync::place_state& place, scheduler::task_observer* other);

  // Place 0: with APGAS_TRACE, compares the clocks and begins to record at all places. Context: a
  // thread that is no worker, before the first task of the program.
  void begin() noexcept;
  // Place 0: ends the recording at all places, if there is one, and writes the file. A failure
  // causes a warning. Context: a thread that is no worker; after the last task, while all places
  // still answer.
  void end() noexcept;

  // Place 0: begins or ends the recording for a tool; the file may exist. They return at once, and
  // status() tells when that is done: as soon as a worker of each place has been free for a moment.
  // Throws: launch_error if the request makes no sense now, or the file cannot be written.
  // Context: any thread that is no worker.
  void ask_start(const std::string& path);
  void ask_stop();
  trace_status status();

 private:
  class work_at_places;

  // What tasks call at each place.
  static job_trace* of_this_place();
  static std::int64_t clock_here();
  static void record_here(const std::string& path);
  static std::uint64_t stop_here();
  static std::vector<char> piece_here(std::uint64_t from);
  static void written_here();

  void record(const std::string& path);
  static void stop_all_here();
  void record_all();
  void compare_clocks(std::vector<clock_estimate>& clocks);
  void collect();
  void ask(void (*work)(job_trace&), bool stops);
  trace_status status_locked() const;
  bool leave_record(bool complete) noexcept;
  static void leave_records() noexcept;

  const std::string path_of_setting_;
  const std::size_t bytes_of_worker_;
  const bool only_stolen_;
  const bool profiled_;  // APGAS_PROFILE=span
  comm::frame_sink& receiver_;
  // From start() on.
  sync::place_state* place_ = nullptr;
  int here_ = -1;
  int places_ = 0;
  scheduler::task_observer* other_ = nullptr;

  // From the first recording on.
  std::unique_ptr<scheduler::trace_recorder> recorder_;
  std::unique_ptr<traced_frames> frames_;
  std::unique_ptr<scheduler::observer_pair> both_;  // the recorder and `other_`, if there is one
  std::string path_;
  std::string record_path_;                   // of this place
  std::string unfinished_path_;               // of the record while it is written
  bool leaves_record_ = true;                 // not beside a device
  std::vector<std::byte> recorded_;           // from stop_here() on
  std::vector<clock_estimate> first_clocks_;  // at place 0: those of all places at the start

  std::mutex requests_mutex_;                // of what tools ask place 0 for
  bool accepts_ = false;                     // from begin() to end()
  bool stops_ = false;                       // the last request was to stop
  std::string next_path_;                    // of the last request to start
  std::unique_ptr<work_at_places> request_;  // the last one
  std::vector<std::string> problems_;        // used by the running request, else with the mutex

  // All objects of the process.
  job_trace* next_ = nullptr;
  base::atomic<bool> unwritten_{false};  // the record is in no file yet
  const pid_t process_;                  // a child that it forks leaves no record
};

}  // namespace apgas::inline v0::launch
