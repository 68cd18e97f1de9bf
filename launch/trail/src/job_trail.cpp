// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <apgas/base/exit_reason.hpp>
#include <apgas/base/safe_line.hpp>
#include <apgas/errors.hpp>

#include "job_trail.hpp"

// Pairs
//   P1  A thread that finds a trail in the list, also in the handler of a signal, sees the complete
//       object.
namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t printed_most = 10;  // events of each worker
constexpr int printed_workers_most = 16;

// The list of all trails of the process, which the handler of a signal reads (P1).
base::atomic<job_trail*> first_trail{nullptr};
std::mutex trails_lock;

// trail.txt becomes trail.txt.3 at place 3, if there are several places.
std::string path_of(const std::string& path, int here, int places) {
  return places == 1 ? path : fmt::format("{}.{}", path, here);
}

// In the directory for temporary files; no other run has the same one.
std::string temporary_path(int here) {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed) folder = "/tmp";
  const auto begun = std::chrono::system_clock::now().time_since_epoch().count();
  return folder / fmt::format("apgas-trail-{}-{:x}.{}", getpid(), begun, here);
}

// What a line needs to go to a file.
struct open_file {
  int number;
  bool complete;

  void write(std::string_view text) noexcept {
    if (!complete) return;
    complete = ::write(number, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
};

}  // namespace

job_trail::job_trail(const base::settings& settings, int here, int places, int workers)
    : here_(here),
      named_(!settings.trail_file.empty()),
      path_(named_ ? path_of(settings.trail_file, here, places) : temporary_path(here)),
      trail_(workers) {
  if (named_) open_named(settings.trail_file);
  base::catch_signals();
  base::add_end_action(leave_all);
  const std::lock_guard guard(trails_lock);
  next_ = first_trail.load(base::relaxed);
  first_trail.store(this, base::release);  // P1
}

void job_trail::open_named(const std::string& setting) {
  constexpr int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
  file_ = open(path_.c_str(), flags | O_EXCL, 0666);
  made_ = file_ >= 0;
  if (!made_) file_ = open(path_.c_str(), flags, 0666);  // that of an earlier run, or a device
  if (file_ >= 0 || here_ != 0) return;
  throw launch_error(fmt::format(
      "APGAS_TRAIL={}: the file {} cannot be written ({}); name one in a folder that exists on "
      "every host and may be written",
      setting, path_, std::system_category().message(errno)));
}

job_trail::~job_trail() {
  {
    const std::lock_guard guard(trails_lock);
    job_trail* before = nullptr;
    for (job_trail* t = first_trail.load(base::relaxed); t != this; t = t->next_) before = t;
    if (before != nullptr) {
      before->next_ = next_;
    } else {
      first_trail.store(next_, base::release);  // P1
    }
  }
  if (file_ < 0) return;
  close(file_);
  if (made_ && !left_.load(base::relaxed)) unlink(path_.c_str());
}

void job_trail::leave_all() noexcept {
  for (job_trail* t = first_trail.load(base::acquire); t != nullptr; t = t->next_) {  // P1
    t->leave();
  }
}

void job_trail::leave() noexcept {
  if (left_.exchange(true, base::relaxed)) return;
  if (!trail_.has_tasks()) {
    if (made_) unlink(path_.c_str());
    return;
  }
  const bool prints = !base::others_printed_exit_reason();
  if (prints) print();
  if (!named_ && prints)
    file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (named_ || prints) write_file();
}

namespace {

// Begins the events of a worker.
void add_worker(base::safe_line& line, const scheduler::trail& of, int worker) noexcept {
  line << "worker " << static_cast<std::uint64_t>(worker)
       << (of.runs_on_this_thread(worker) ? ", which ended the process" : "");
}

}  // namespace

void job_trail::print() const noexcept {
  base::safe_line head;
  head << "apgas: the last events at place " << static_cast<std::uint64_t>(here_)
       << ", of each worker at most " << std::uint64_t{printed_most} << ":";
  head.print();
  for (int worker = 0; worker < trail_.workers(); ++worker) {
    if (worker >= printed_workers_most && !trail_.runs_on_this_thread(worker)) continue;
    base::safe_line line;
    line << "apgas:   ";
    add_worker(line, trail_, worker);
    line.print();
    trail_.write(
        worker, printed_most,
        [](void*, const base::safe_line& event) {
          base::safe_line indented;
          indented << "apgas:     " << event.text();
          indented.print();
        },
        nullptr);
  }
}

void job_trail::write_file() noexcept {
  open_file to{file_, file_ >= 0};
  if (to.complete) static_cast<void>(ftruncate(file_, 0));  // it may be no regular file
  for (int worker = 0; worker < trail_.workers(); ++worker) {
    base::safe_line line;
    add_worker(line, trail_, worker);
    to.write(line.text());
    to.write("\n");
    trail_.write(
        worker, scheduler::trail::events_most,
        [](void* file, const base::safe_line& event) {
          base::safe_line indented;
          indented << "  " << event.text();
          static_cast<open_file*>(file)->write(indented.text());
          static_cast<open_file*>(file)->write("\n");
        },
        &to);
  }
  base::safe_line line;
  line << "apgas: the last events of each worker of place " << static_cast<std::uint64_t>(here_)
       << (to.complete ? " are in " : " could not all be written to ") << path_.c_str();
  line.print();
}

}  // namespace apgas::inline v0::launch
