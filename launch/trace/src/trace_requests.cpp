// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/errors.hpp>

#include "job_trace.hpp"
#include "trace_file.hpp"
#include "trace_work.hpp"

// How place 0 begins and ends the recording at all places: at the start and the end of the program,
// and when a tool asks for it.
namespace apgas::inline v0::launch {

namespace {

std::string no_trace(const std::string& failure) {
  return fmt::format("there is no trace: {}", failure);
}

}  // namespace

void job_trace::begin() noexcept {
  next_path_ = path_of_setting_;
  if (!path_of_setting_.empty() && !place_->seeded) {
    work_at_places work(*this, [](job_trace& self) { self.record_all(); });
    work.start();
    work.wait();
    if (!work.failure().empty()) base::warn(no_trace(work.failure()));
  }
  const std::lock_guard guard(requests_mutex_);
  accepts_ = true;
}

void job_trace::end() noexcept {
  {
    const std::lock_guard guard(requests_mutex_);
    accepts_ = false;
  }
  if (request_ != nullptr) request_->wait();
  if (!unwritten_.load(base::acquire)) return;  // P2 of job_trace.hpp
  recorder_->stop();                            // so that the tasks of collect() have no slices
  if (place_->seeded) stop_all_here();          // the order of those tasks depends on the time
  work_at_places work(*this, [](job_trace& self) { self.collect(); });
  work.start();
  work.wait();
  if (!work.failure().empty()) problems_.insert(problems_.begin(), no_trace(work.failure()));
  const bool left = unwritten_.load(base::acquire) && leaves_record_;  // P2 of job_trace.hpp
  if (left && !problems_.empty()) {
    problems_.front() += fmt::format(
        "; each place leaves its record if there is space for it, {0}.place0 for example, and "
        "apgas-trace-merge {0} makes a trace of them",
        path_);
  }
  for (const std::string& line : problems_) base::warn(line);
}

trace_status job_trace::status_locked() const {
  trace_status status;
  status.path = next_path_;
  if (request_ != nullptr && !request_->is_done()) {
    status.state = stops_ ? "stopping" : "starting";
    return status;
  }
  status.problems = problems_;
  if (request_ != nullptr && !request_->failure().empty()) {
    status.problems.push_back(request_->failure());
  }
  const bool unwritten = unwritten_.load(base::acquire);  // P2 of job_trace.hpp
  status.state = !unwritten ? "off" : recorder_->recording() ? "recording" : "unwritten";
  return status;
}

trace_status job_trace::status() {
  const std::lock_guard guard(requests_mutex_);
  return status_locked();
}

// Requires: requests_mutex_, and no request is running.
void job_trace::ask(void (*work)(job_trace&), bool stops) {
  stops_ = stops;
  problems_.clear();
  request_ = std::make_unique<work_at_places>(*this, work);
  request_->start();
}

void job_trace::ask_start(const std::string& path) {
  const std::lock_guard guard(requests_mutex_);
  const std::string_view state = status_locked().state;
  if (!accepts_) throw launch_error("the program begins or ends at this moment; there is no trace");
  if (state == "unwritten") {
    throw launch_error(fmt::format(
        "the trace {} is not written yet: make space on the disk, and stop it again", next_path_));
  }
  if (state != "off") {
    throw launch_error(
        fmt::format("a trace is being recorded already, to {}; stop it first", next_path_));
  }
  if (profiled_ && path_of_setting_.empty()) {
    throw launch_error(
        "this job has a profile of work and span (APGAS_PROFILE=span), which a trace would change; "
        "start the job with APGAS_TRACE=<file>, too, or without the profile");
  }
  if (const std::string problem = why_not_written(path); !problem.empty()) {
    throw launch_error(fmt::format("{}: {}", path, problem));
  }
  next_path_ = path;
  ask([](job_trace& self) { self.record_all(); }, false);
}

void job_trace::ask_stop() {
  const std::lock_guard guard(requests_mutex_);
  const std::string_view state = status_locked().state;
  if (!accepts_) throw launch_error("the program ends at this moment, and writes its trace");
  if (state != "recording" && state != "unwritten") {
    throw launch_error(state == "off" ? "no trace is being recorded; start one first"
                                      : "the last request about the trace is not done yet");
  }
  ask(
      [](job_trace& self) {
        if (self.recorder_->recording()) self.recorder_->stop();
        self.collect();
      },
      true);
}

}  // namespace apgas::inline v0::launch
