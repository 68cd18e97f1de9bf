// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include <pthread.h>

#include <apgas/base/cache_line.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/span_profile.hpp>

#include "site_table.hpp"
#include "span_report.hpp"
#include "span_words.hpp"
#include "strand.hpp"

// Follows the tasks of a run (task_observer.hpp) and says to their strands what they do
// (strand.hpp).
//
//                  written by                                 read by
//   a record       the worker that runs its task, or makes    the same
//                  it ready while it is suspended
//   a scope        the holder of the lock of its shard        the same
//   phases_, published_, submitted_, longest_, returned_
//                  the holder of events_lock_                 the same; longest_ also end()
//   frame_         the thread that polls, with polling_       the same
//   totals_[w]     worker w                                   end(), after the end of the run
//   job_           end(), and the thread that polls, with     part(), summary()
//                  add_part()
//
// A frame carries the path of the task that sends it, and while its handler runs, the frame is what
// makes tasks ready or submits them (recorder_frames.cpp).
//
// If there is no memory left, the program ends, since the profile would be wrong.
namespace apgas::inline v0::scheduler {

class span_recorder final : public task_observer {
 public:
  explicit span_recorder(const span_profile_config& c);

  void spawned(fiber& parent, observed_task& child) noexcept override;
  void begins(fiber& self, observed_task& task) noexcept override;
  void ends(fiber& self, observed_task& task) noexcept override;
  void described(fiber& self) noexcept override;
  void suspends(fiber& self, const wait_record& why) noexcept override;
  void resumes(fiber& self, std::uint64_t cause) noexcept override;
  std::uint64_t makes_ready(const fiber& f) noexcept override;
  std::uint64_t submits() noexcept override;
  void joined(fiber& self, const task_counter& counter, const call_site& where) noexcept override;
  void published(const void* event) noexcept override;
  void awaited(fiber& self, const void* event) noexcept override;

  void reaches_places(const task_counter& finish) noexcept override;
  void replies(const task_counter& finish) noexcept override;
  void returns(const task_counter& finish, bool with_reply) noexcept override;

  // See span_profile.
  span_words departs(const departing_frame& frame) noexcept;
  bool arrives(const arriving_frame& frame, std::span<const std::uint64_t> words) noexcept;
  void handled() noexcept;

  // What the run was: end(), when the scheduler has ended, and then part() or summary(). Before
  // summary(), add_part() with what part() has returned at each other place; meanwhile tasks of
  // this place may still run.
  void end();
  span_words part() const;
  bool add_part(std::span<const std::uint64_t> words);
  span_summary summary() const;

 private:
  struct scope_record {
    span_scope scope;
    bool is_join = false;
    bool is_open = false;  // its owner is known
  };
  using returned_scope = std::unique_ptr<span_scope>;  // null: nothing
  // A task that has been spawned and has not ended.
  struct record {
    explicit record(const span_recorder* at) noexcept : of(at) {}
    const span_recorder* of;  // whose place the task is at
    strand s;
    std::uint64_t since = 0;        // cycle count when it began or went on
    const void* phase = nullptr;    // of a clock or phaser, for which it waits
    std::uint64_t phases_over = 0;  // of that clock, when it began to wait
    const void* call = nullptr;     // of an `at`, for whose reply it waits
    returned_scope returned;        // what its reply is to carry
  };
  // A clock or phaser. The tasks that a phase releases may arrive at the next one before the others
  // and the other places have been released.
  struct phase_paths {
    span_event arriving;             // at the present phase, and at all before
    span_event over;                 // what the last phase that is over has waited for
    std::uint64_t phases_over = 0;   // that have released tasks of this place
    bool released_here = false;      // the last one has, and no other place is told yet
    std::uint64_t told = no_number;  // the number of the phase that other places are told of
  };
  static constexpr auto no_number = std::numeric_limits<std::uint64_t>::max();
  struct submission {
    span_event event;
    returned_scope returned;
  };
  struct alignas(base::cache_line_bytes) shard {
    base::spin_lock lock;
    std::unordered_map<const task_counter*, scope_record> scopes;
  };
  struct task_total {
    std::uint64_t tasks = 0;
    span_ticks work = 0;
    span_ticks longest = 0;
  };
  struct finish_total {
    std::uint64_t times = 0;
    span_ticks largest_work = 0;
    span_ticks largest_span = 0;
  };
  struct site_totals {
    void add_task(site_number site, const task_total& total);
    void add_finish(site_number site, const finish_total& total);

    std::unordered_map<site_number, task_total> tasks;
    std::unordered_map<site_number, finish_total> finishes;
  };
  struct alignas(base::cache_line_bytes) worker_totals : site_totals {
    site_cache spawn_sites, finish_sites, join_sites;
  };

  static record* record_of(const observed_task* t) noexcept;
  record* running_now() noexcept;
  void stop(record& r, std::uint64_t now) const;
  void go_on(record& r) const noexcept;
  void measure_hook() noexcept;
  shard& shard_of(const task_counter& counter) noexcept;
  worker_totals& totals_of(const fiber& f) noexcept;
  record* make_record();
  site_number spawn_site(const fiber& f, const std::source_location& site);
  void add_end(const observed_task& task, const strand& s);
  void merge(returned_scope& into, span_scope&& more);
  returned_scope take_returned(record* r);
  static const critical_paths& paths_to(const departing_frame& frame, phase_paths& phases);
  template <class Change>
  void change_scope(const task_counter& finish, Change change) noexcept;

  const span_profile_config config_;
  const span_costs costs_;
  site_table sites_;
  std::array<shard, 64> shards_;
  std::vector<worker_totals> totals_;
  std::uint64_t hook_ticks_ = 0;  // of a hook, outside its own measurement

  base::spin_lock events_lock_;
  std::unordered_map<const void*, phase_paths> phases_;
  std::unordered_map<const void*, span_event> published_;
  std::unordered_map<std::uint64_t, submission> submitted_;
  std::uint64_t submissions_ = 0;
  critical_paths longest_;  // of the tasks that have ended and belong to no finish of this place
  // What the next frame about a finish is to carry, and the thread that will send it.
  returned_scope returned_;
  pthread_t returning_{};

  record frame_{this};                  // while its handler runs
  base::atomic<pthread_t> polling_{0};  // the thread that runs it

  site_totals job_;
  int workers_ = 0;

  std::uint64_t begun_ticks_ = 0;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace apgas::inline v0::scheduler
