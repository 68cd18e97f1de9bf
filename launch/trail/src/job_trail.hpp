// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <apgas/base/settings.hpp>
#include <apgas/scheduler/trail.hpp>

// The trail of a place of a job (APGAS_TRAIL): if the process dies, the last events of each worker
// go to standard error and, all that are kept, to a file.
//
// A file that the setting names is opened at the start, so that a path which cannot be written is
// noticed then. If the run ends in order, a file that was made for it is removed, and one that
// existed is left as it was. Only the place that prints why the job ends prints its events, too;
// the others, which end because of it, write their files.
//
// Without a named file, the place that prints its events makes one when it dies, in the directory
// for temporary files. Only the user can read it, and nothing that exists is opened.
namespace apgas::inline v0::launch {

class job_trail {
 public:
  // Throws: launch_error if place 0 cannot write the file; std::bad_alloc.
  job_trail(const base::settings& settings, int here, int places, int workers);
  job_trail(const job_trail&) = delete;
  job_trail& operator=(const job_trail&) = delete;
  ~job_trail();

  scheduler::task_observer& observer() noexcept { return trail_; }

 private:
  // Context: any thread, signal handlers.
  static void leave_all() noexcept;
  void leave() noexcept;
  void open_named(const std::string& setting);
  void print() const noexcept;
  void write_file() noexcept;

  const int here_;
  const bool named_;  // by the setting
  const std::string path_;
  int file_ = -1;
  bool made_ = false;  // the file did not exist before
  scheduler::trail trail_;
  base::atomic<bool> left_{false};
  job_trail* next_ = nullptr;  // in the list of all trails of the process
};

}  // namespace apgas::inline v0::launch
