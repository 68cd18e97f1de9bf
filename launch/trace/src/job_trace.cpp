// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <apgas/at.hpp>
#include <apgas/base/exit_reason.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/base/safe_line.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/errors.hpp>
#include <apgas/finish.hpp>

#include "job_trace.hpp"
#include "trace_file.hpp"
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

std::int64_t clock_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

job_trace::job_trace(const base::settings& settings, comm::transport& network,
                     comm::frame_sink& receiver)
    : path_(settings.trace),
      record_path_(record_path(settings.trace, network.here())),
      here_(network.here()),
      places_(network.size()),
      bytes_of_worker_(settings.trace_bytes),
      only_stolen_(settings.trace_detail == base::trace_detail_choice::stolen),
      network_(network, recorder_of_network_),
      receiver_(receiver, network.here(), network.size(), recorder_of_network_),
      process_(getpid()) {}

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

scheduler::task_observer& job_trace::start(int workers) {
  if (here_ == 0) trace_stream(path_).close();  // it can be written
  unlink(record_path_.c_str());                 // that of an earlier job
  recorder_ = std::make_unique<scheduler::trace_recorder>(
      scheduler::trace_options{.place = here_,
                               .places = places_,
                               .workers = workers,
                               .bytes_of_worker = bytes_of_worker_,
                               .only_stolen = only_stolen_,
                               .bytes_in_flight = [this] { return network_.unsent_bytes(); }});
  recorder_of_network_.store(recorder_.get(), base::release);  // P1 of traced_network.hpp
  base::catch_signals();
  base::add_end_action(leave_records);
  const std::lock_guard guard(list_lock);
  next_ = first_trace.load(base::relaxed);
  first_trace.store(this, base::release);  // P1
  return *recorder_;
}

// ---- what tasks call at each place --------------------------------------------------------------

// Null if the place was started without APGAS_TRACE.
job_trace* job_trace::of_this_place() {
  const int here = sync::place_of(sync::task_fiber("trace")).here;
  const std::lock_guard guard(list_lock);
  job_trace* t = first_trace.load(base::relaxed);
  while (t != nullptr && t->here_ != here) t = t->next_;
  return t;
}

std::int64_t job_trace::clock_here() { return clock_ns(); }

void job_trace::record_here() {
  job_trace* const t = of_this_place();
  if (t == nullptr) return;
  t->unwritten_.store(true, base::relaxed);
  t->recorder_->begin();
}

// Returns the number of bytes that were recorded.
std::uint64_t job_trace::stop_here() {
  job_trace* const t = of_this_place();
  if (t == nullptr || !t->unwritten_.load(base::relaxed)) return 0;
  if (t->recorder_->recording()) t->recorder_->stop();
  t->recorded_ = t->recorder_->bytes(true);
  return t->recorded_.size();
}

std::vector<char> job_trace::piece_here(std::uint64_t from) {
  job_trace* const t = of_this_place();
  if (t == nullptr || from >= t->recorded_.size()) return {};
  const std::size_t n = std::min<std::size_t>(piece_bytes, t->recorded_.size() - from);
  const auto* const begin = reinterpret_cast<const char*>(t->recorded_.data()) + from;
  std::vector<char> piece(begin, begin + n);
  if (from + n == t->recorded_.size()) t->recorded_ = {};
  return piece;
}

void job_trace::written_here() {
  if (job_trace* const t = of_this_place()) t->unwritten_.store(false, base::relaxed);
}

// ---- place 0 ------------------------------------------------------------------------------------

// A task that does something at all places, and the thread that waits for it.
class job_trace::work_at_places final : scheduler::external_task {
 public:
  work_at_places(job_trace& trace, void (*work)(job_trace&))
      : external_task{.run = run_task}, trace_(trace), work_(work) {}

  // Throws what the work threw.
  void run(sync::place_state& place) {
    const base::own_thread waits;
    place.task_scheduler->submit(this);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  static scheduler::task_counter* run_task(external_task* task, scheduler::fiber&) noexcept {
    auto& self = *static_cast<work_at_places*>(task);
    std::exception_ptr error;
    try {
      finish([&self, &error] {
        try {
          self.work_(self.trace_);
        } catch (...) {
          error = std::current_exception();  // and not a list of exceptions, which tells no reason
        }
      });
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard guard(self.mutex_);
    self.error_ = std::move(error);
    self.done_ = true;
    self.changed_.notify_one();
    return nullptr;
  }

  job_trace& trace_;
  void (*const work_)(job_trace&);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;
  bool done_ = false;
};

// Estimates the difference between the clock of each place and that of this one from the shortest
// of some round trips; half of its time is the greatest error. Places of one host have the same
// clock, unless the estimate excludes that.
void job_trace::compare_clocks(bool at_start) {
  clocks_.resize(static_cast<std::size_t>(places_));
  for (int p = 0; p < places_; ++p) {
    clock_offset& clock = clocks_[static_cast<std::size_t>(p)];
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::int64_t offset = 0;
    std::int64_t read_at = 0;
    for (int i = 0; p != here_ && i < round_trips; ++i) {
      const std::int64_t before = clock_ns();
      const std::int64_t there = at(place(p), [] { return clock_here(); });
      const std::int64_t after = clock_ns();
      if (after - before >= best) continue;
      best = after - before;
      offset = before + best / 2 - there;
      read_at = there;
    }
    if (p == here_) best = 0;
    std::int64_t error = (best + 1) / 2;
    if (place_->endpoint->same_node(p, here_) && std::abs(offset) <= error) offset = error = 0;
    clock.error_ns = at_start ? error : std::max(error, clock.error_ns);
    (at_start ? clock.first_ns : clock.last_ns) = read_at;
    (at_start ? clock.first_offset_ns : clock.offset_ns) = offset;
  }
}

void job_trace::begin(sync::place_state& place) noexcept {
  place_ = &place;
  try {
    work_at_places(*this, [](job_trace& self) {
      self.compare_clocks(true);
      for (int p = 0; p < self.places_; ++p) at(apgas::place(p), [] { record_here(); });
    }).run(place);
  } catch (const std::exception& failure) {
    base::warn(fmt::format("there is no trace: {}", failure.what()));
  }
}

void job_trace::end(sync::place_state& place) noexcept {
  if (!unwritten_.load(base::relaxed)) return;  // begin() has failed
  place_ = &place;
  recorder_->stop();  // so that the tasks of collect() have no slices
  try {
    work_at_places(*this, [](job_trace& self) { self.collect(); }).run(place);
  } catch (const std::exception& failure) {
    base::warn(fmt::format("there is no trace: {}", failure.what()));
  }
}

void job_trace::collect() {
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(places_));
  for (int p = 0; p < places_; ++p) {
    bytes[static_cast<std::size_t>(p)] = at(place(p), [] { return stop_here(); });
  }
  compare_clocks(false);
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
    clocks.push_back(clocks_[i]);
  }
  bool written = false;
  for (const std::string& line : write_trace_file(path_, all, clocks, &written)) base::warn(line);
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

// Context: any thread, also in a handler of a signal.
void job_trace::leave_record(bool complete) noexcept {
  if (!unwritten_.exchange(false, base::relaxed) || process_ != getpid()) return;
  if (recorder_->recording()) recorder_->stop();
  int fd = open(record_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  recorder_->for_each_piece(complete, write_all, &fd);
  base::safe_line line;
  if (fd >= 0) {
    close(fd);
    line << "apgas: what place " << static_cast<std::uint64_t>(here_) << " did is in "
         << record_path_.c_str() << "; apgas-trace-merge " << path_.c_str()
         << " makes a trace of it";
  } else {
    line << "apgas: warning: place " << static_cast<std::uint64_t>(here_) << " cannot write "
         << record_path_.c_str() << ", so the trace lacks it; make space on the disk";
  }
  line.print();
}

void job_trace::leave_records() noexcept {
  for (job_trace* t = first_trace.load(base::acquire); t != nullptr; t = t->next_) {  // P1
    t->leave_record(false);
  }
}

}  // namespace apgas::inline v0::launch
