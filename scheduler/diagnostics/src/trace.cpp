// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/errors.hpp>
#include <apgas/scheduler/worker.hpp>

#include "trace.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t entries_max = std::size_t{1} << 20;  // for each worker, about 80 MB

// Returns `text` as the contents of a JSON string, without the quotes.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result;
}

std::string label_of(const trace_log::entry& e) {
  if (e.what != nullptr) return e.what;
  if (e.name != nullptr) return escaped(e.name);
  if (e.site.line() == 0) return "main or a task without a spawn site";
  const std::string_view path = e.site.file_name();
  return escaped(fmt::format("{}:{}", path.substr(path.rfind('/') + 1), e.site.line()));
}

std::string details_of(const trace_log::entry& e) {
  if (e.tasks != 0) return fmt::format(R"("tasks":{})", e.tasks);
  if (e.what != nullptr) return {};
  return fmt::format(R"("spawned at":"{}:{}","in":"{}","then":"{}")", escaped(e.site.file_name()),
                     e.site.line(), escaped(e.site.function_name()),
                     e.then == nullptr ? "ended" : fmt::format("waited in {}", escaped(e.then)));
}

std::string_view category_of(const trace_log::entry& e) {
  return e.what == nullptr ? "task" : "worker";
}

// Converts times to microseconds since midnight UTC. So the traces of all places have the same
// origin, as far as the clocks of their hosts agree, and the numbers are small enough for a viewer
// that stores them as `double`.
class day_time {
 public:
  day_time()
      : now_(trace_log::clock::now()),
        since_midnight_(std::chrono::system_clock::now().time_since_epoch() %
                        std::chrono::days{1}) {}
  double of(trace_log::clock::time_point t) const {
    return std::chrono::duration<double, std::micro>(since_midnight_ + (t - now_)).count();
  }

 private:
  trace_log::clock::time_point now_;
  std::chrono::system_clock::duration since_midnight_;
};

}  // namespace

void trace_log::task_begins(const task_state& task) noexcept {
  running_ = {.begin = clock::now(), .end = {}, .site = {}};
  runs_ = true;
  task_described(task);
}

void trace_log::task_described(const task_state& task) noexcept {
  const std::source_location known = running_.site;
  if (!runs_ || running_.name != nullptr) return;
  if (known.line() != 0 && (known.line() != task.site.line() ||
                            std::strcmp(known.file_name(), task.site.file_name()) != 0)) {
    return;
  }
  running_.site = task.site;
  if (task.name == nullptr) return;
  try {
    running_.name = names_.emplace(task.name).first->c_str();
  } catch (const std::bad_alloc&) {
    running_.name = "?";
  }
}

void describe_to_trace(fiber& self) noexcept { self.on->trace->task_described(self.task); }

// If tasks switched to each other directly (worker.hpp : switch_fast), only the first of them has
// an entry.
void trace_log::task_left(const char* waits_for) noexcept {
  if (!std::exchange(runs_, false)) return;
  running_.end = clock::now();
  running_.then = waits_for;
  keep(running_);
}

void trace_log::add(const char* what, clock::time_point begin, std::uint64_t tasks) noexcept {
  keep({.what = what, .begin = begin, .end = clock::now(), .site = {}, .tasks = tasks});
}

void trace_log::keep(const entry& e) noexcept {
  if (entries_.size() == entries_max) {
    ++lost_;
    return;
  }
  try {
    entries_.push_back(e);
  } catch (const std::bad_alloc&) {
    ++lost_;
  }
}

trace_file::trace_file(std::string path, int place, int workers)
    : path_(std::move(path)), place_(place), to_(path_) {
  if (!to_) {
    throw launch_error(fmt::format(
        "APGAS_TRACE={}: that file cannot be written ({}); name one in a folder that exists and "
        "may be written at every place",
        path_, std::system_category().message(errno)));
  }
  for (int i = 0; i < workers; ++i) logs_.push_back(std::make_unique<trace_log>());
}

trace_file::~trace_file() {
  write();
  to_.close();
  if (!to_) {
    base::warn(fmt::format("the trace {} is not complete: it could not be written ({})", path_,
                           std::system_category().message(errno)));
  }
  std::uint64_t lost = 0;
  for (const auto& log : logs_) lost += log->lost();
  if (lost != 0) {
    base::warn(fmt::format("the trace {} leaves out {} entries: more than {} for a worker", path_,
                           lost, entries_max));
  }
}

void trace_file::write() {
  const day_time time;
  to_ << fmt::format(
      R"({{"displayTimeUnit":"ns","traceEvents":[)"
      "\n"
      R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"place {0}"}}}})",
      place_);
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    to_ << fmt::format(
        ",\n"
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},)"
        R"("args":{{"name":"worker {}"}}}})",
        place_, i, i);
    for (const trace_log::entry& e : logs_[i]->entries()) {
      to_ << fmt::format(
          ",\n"
          R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{:.3f},)"
          R"("dur":{:.3f},"args":{{{}}}}})",
          label_of(e), category_of(e), place_, i, time.of(e.begin),
          time.of(e.end) - time.of(e.begin), details_of(e));
    }
  }
  to_ << "\n]}\n";
}

}  // namespace apgas::inline v0::scheduler
