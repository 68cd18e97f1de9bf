// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <apgas/at.hpp>
#include <apgas/base/exit_reason.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/safe_line.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/errors.hpp>

#include "job_trace.hpp"
#include "merge_program.hpp"
#include "trace_file.hpp"
#include "trace_work.hpp"
#include "trace_writer.hpp"

// Pairs
//   P1  A thread that finds a trace in the list, also in the handler of a signal, sees the complete
//       object with its recorder.
namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr int round_trips = 30;

// The list of all traces of the process, which the handler of a signal reads (P1).
base::atomic<job_trace*> first_trace{nullptr};
std::mutex list_lock;

base::atomic<bool> whole_job{false};  // this process is the job, and no launcher waits for it

std::int64_t clock_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

job_trace::job_trace(const base::settings& settings, comm::frame_sink& receiver)
    : path_of_setting_(settings.trace),
      bytes_of_worker_(settings.trace_bytes),
      only_stolen_(settings.trace_detail == base::trace_detail_choice::stolen),
      profiled_(settings.profile_span),
      receiver_(receiver),
      process_(getpid()) {}

void job_trace::job_is_this_process() noexcept { whole_job.store(true, base::relaxed); }

job_trace::~job_trace() {
  leave_record(true);
  const std::lock_guard guard(list_lock);
  job_trace* before = nullptr;
  for (job_trace* t = first_trace.load(base::relaxed); t != nullptr; t = t->next_) {
    if (t != this) {
      before = t;
      continue;
    }
    if (before != nullptr) before->next_ = next_;
    if (before == nullptr) first_trace.store(next_, base::release);  // P1
    break;
  }
}

void job_trace::start(sync::place_state& place, scheduler::task_observer* other) {
  here_ = place.here;
  places_ = place.places;
  if (here_ == 0 && !path_of_setting_.empty()) {
    const std::string problem = why_not_written(path_of_setting_);
    if (!problem.empty()) {
      throw launch_error(fmt::format("APGAS_TRACE={}: {}", path_of_setting_, problem));
    }
  }
  place_ = &place;
  other_ = other;
  {
    const std::lock_guard guard(list_lock);
    next_ = first_trace.load(base::relaxed);
    first_trace.store(this, base::release);  // P1
  }
  if (place.seeded && !path_of_setting_.empty()) record(path_of_setting_);
}

void job_trace::stop_all_here() {
  const std::lock_guard guard(list_lock);
  for (job_trace* t = first_trace.load(base::relaxed); t != nullptr; t = t->next_) {
    if (t->recorder_ != nullptr && t->recorder_->recording()) t->recorder_->stop();
  }
}

// ---- what tasks call at each place --------------------------------------------------------------

job_trace* job_trace::of_this_place() {
  const int here = sync::place_of(sync::task_fiber("trace")).here;
  const std::lock_guard guard(list_lock);
  job_trace* t = first_trace.load(base::relaxed);
  while (t != nullptr && t->here_ != here) t = t->next_;
  return t;
}

std::int64_t job_trace::clock_here() { return clock_ns(); }

void job_trace::record_here(const std::string& path) { of_this_place()->record(path); }

void job_trace::record(const std::string& path) {
  scheduler::scheduler& workers = *place_->task_scheduler;
  if (recorder_ == nullptr) {
    recorder_ = std::make_unique<scheduler::trace_recorder>(scheduler::trace_options{
        .place = here_,
        .places = places_,
        .workers = workers.num_workers(),
        .bytes_of_worker = bytes_of_worker_,
        .only_stolen = only_stolen_,
        .bytes_in_flight = [this] { return place_->endpoint->network().unsent_bytes(); }});
    recorder_->set_scheduler(workers);
    if (other_ != nullptr) {
      both_ = std::make_unique<scheduler::observer_pair>(*recorder_, *other_);
    }
    frames_ = std::make_unique<traced_frames>(*place_, receiver_, *recorder_);
    base::catch_signals();
    if (whole_job.load(base::relaxed)) {
      const std::lock_guard guard(list_lock);
      find_merge_program();
    }
    base::add_end_action(leave_records);
  }
  path_ = path;
  record_path_ = record_path(path, here_);
  unfinished_path_ = unfinished_record_path(path, here_);
  leaves_record_ = !is_device(path);
  unlink(record_path_.c_str());  // those of an earlier job
  unlink(unfinished_path_.c_str());
  recorder_->begin();
  unwritten_.store(true, base::release);  // P2
  place_->endpoint->observe(frames_.get(), *frames_);
  workers.observe(both_ ? static_cast<scheduler::task_observer*>(both_.get()) : recorder_.get());
}

// Returns the number of bytes that were recorded.
std::uint64_t job_trace::stop_here() {
  job_trace* const t = of_this_place();
  if (!t->unwritten_.load(base::acquire)) return 0;  // P2
  if (t->recorder_->recording()) t->recorder_->stop();
  t->place_->task_scheduler->observe(t->other_);
  t->place_->endpoint->observe(nullptr, t->receiver_);
  t->recorded_ = t->recorder_->bytes(true);
  return t->recorded_.size();
}

std::vector<char> job_trace::piece_here(std::uint64_t from) {
  job_trace* const t = of_this_place();
  if (from >= t->recorded_.size()) return {};
  const std::size_t n = std::min<std::size_t>(piece_bytes, t->recorded_.size() - from);
  const auto* const begin = reinterpret_cast<const char*>(t->recorded_.data()) + from;
  std::vector<char> piece(begin, begin + n);
  if (from + n == t->recorded_.size()) t->recorded_ = {};
  return piece;
}

void job_trace::written_here() {
  job_trace* const t = of_this_place();
  if (t->unwritten_.exchange(false, base::acq_rel)) t->recorder_->forget();  // P2
}

// ---- place 0 ------------------------------------------------------------------------------------

// Places of one host have the same clock, unless the estimate excludes that.
void job_trace::compare_clocks(std::vector<clock_estimate>& clocks) {
  clocks.resize(static_cast<std::size_t>(places_));
  for (int p = 0; p < places_; ++p) {
    if (p == here_) continue;
    clock_estimate& clock = clocks[static_cast<std::size_t>(p)];
    clock = estimate_clock(round_trips, clock_ns,
                           [p] { return at(place(p), [] { return clock_here(); }); });
    if (place_->endpoint->same_node(p, here_) && std::abs(clock.offset_ns) <= clock.error_ns) {
      clock.offset_ns = clock.error_ns = 0;
    }
  }
}

void job_trace::record_all() {
  compare_clocks(first_clocks_);
  // This place comes last, so that these calls are not in the trace.
  for (int p = places_ - 1; p >= 0; --p) {
    at(place(p), [](const std::string& path) { record_here(path); }, next_path_);
  }
}

void job_trace::collect() {
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(places_));
  for (int p = 0; p < places_; ++p) {
    bytes[static_cast<std::size_t>(p)] = at(place(p), [] { return stop_here(); });
  }
  std::vector<clock_estimate> last_clocks;
  compare_clocks(last_clocks);
  first_clocks_.resize(last_clocks.size());  // empty with a seed: the clock is that of one process
  std::vector<place_trace> all;
  std::vector<clock_offset> clocks;
  for (int p = 0; p < places_; ++p) {
    const auto i = static_cast<std::size_t>(p);
    std::vector<std::byte> record;
    record.reserve(bytes[i]);
    while (record.size() < bytes[i]) {
      const std::vector<char> piece = at(
          place(p), [](std::uint64_t from) { return piece_here(from); },
          std::uint64_t{record.size()});
      if (piece.empty()) break;
      const auto more = std::as_bytes(std::span(piece));
      record.insert(record.end(), more.begin(), more.end());
    }
    if (record.empty()) continue;
    all.emplace_back(std::move(record), fmt::format("the record of place {}", p));
    clocks.push_back(clock_between(first_clocks_[i], last_clocks[i]));
  }
  bool written = false;
  problems_ = write_trace_file(path_, all, clocks, &written);
  if (!written) return;  // each place leaves its record
  for (int p = 0; p < places_; ++p) at(place(p), [] { written_here(); });
}

// ---- if there is no file of all places ----------------------------------------------------------

namespace {

void write_all(void* file, std::span<const std::byte> bytes) {
  int& fd = *static_cast<int*>(file);
  while (fd >= 0 && !bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n <= 0) {
      close(fd);
      fd = -1;
    } else {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
}

}  // namespace

// Returns whether the place has left a record. It may be killed while it writes, so the record gets
// its name when it is whole. A complete one is left at the end of the job, and end() says so.
// Context: any thread, also in a handler of a signal.
bool job_trace::leave_record(bool complete) noexcept {
  if (!unwritten_.exchange(false, base::acq_rel) || process_ != getpid()) return false;  // P2
  if (!leaves_record_) return false;
  if (recorder_->recording()) recorder_->stop();
  int fd = open(unfinished_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  recorder_->for_each_piece(complete, write_all, &fd);
  base::safe_line line;
  const bool left =
      fd >= 0 && close(fd) == 0 && rename(unfinished_path_.c_str(), record_path_.c_str()) == 0;
  if (left && complete) return true;
  if (left) {
    line << "apgas: what place " << static_cast<std::uint64_t>(here_) << " did is in "
         << record_path_.c_str() << "; apgas-trace-merge " << path_.c_str()
         << " makes a trace of it";
  } else {
    unlink(unfinished_path_.c_str());
    line << "apgas: warning: place " << static_cast<std::uint64_t>(here_) << " cannot write "
         << record_path_.c_str() << ", so the trace lacks it; make space on the disk";
  }
  line.print();
  return left;
}

void job_trace::leave_records() noexcept {
  std::uint64_t left = 0;
  const job_trace* last = nullptr;
  for (job_trace* t = first_trace.load(base::acquire); t != nullptr; t = t->next_) {  // P1
    if (!t->leave_record(false)) continue;
    ++left;
    last = t;
  }
  if (last == nullptr || !whole_job.load(base::relaxed)) return;
  if (!run_merge_program(last->path_.c_str())) return;
  base::safe_line line;
  line << "apgas: the trace " << last->path_.c_str() << " has what " << left << " of "
       << static_cast<std::uint64_t>(last->places_) << " places did";
  line.print();
}

}  // namespace apgas::inline v0::launch
