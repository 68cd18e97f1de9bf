// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <apgas/base/safe_line.hpp>
#include <apgas/scheduler/task_observer.hpp>

// The trail of a place: the last events of each of its workers, for the report of a place that
// dies. It is an observer, so a run without it pays nothing. An event is 64 bytes, which the worker
// writes to a ring of its own.
//
// The handler of a signal reads the rings while other workers may still write. A ring therefore
// holds more events than are reported, and the texts that an event points to are read only if they
// can be (readable.hpp).
//
// Pairs
//   P1  A thread that reads the number of events sees all of them, but for those that the owner
//       overwrites meanwhile.
namespace apgas::inline v0::scheduler {

class trail final : public task_observer {
 public:
  static constexpr std::size_t events_most = 1000;  // that are kept of each worker

  // Throws: std::bad_alloc.
  explicit trail(int workers);
  ~trail() override;

  void begins(fiber& self, observed_task& task) noexcept override;
  void ends(fiber& self, observed_task& task) noexcept override;
  void described(fiber& self) noexcept override;
  void suspends(fiber& self, const wait_record& why) noexcept override;
  void resumes(fiber& self, std::uint64_t cause) noexcept override;
  void phase_ends(const void* node, const wait_record* of) noexcept override;
  void worker_begins(worker& w, worker_activity what) noexcept override;
  void worker_did(worker& w, worker_activity what, std::uint64_t begun,
                  std::uint64_t detail) noexcept override;

  // Whether one of the events is that of a task. Context: any thread, signal handlers.
  bool has_tasks() const noexcept;
  int workers() const noexcept { return static_cast<int>(rings_.size()); }
  // Whether the calling thread is worker `worker`. Context: any thread, signal handlers.
  bool runs_on_this_thread(int worker) const noexcept;
  // Passes the last `most` events of a worker to `take`, the oldest first, each as a line that says
  // how long before now it was. Context: any thread, signal handlers; others may still write.
  using take_line = void (*)(void* context, const base::safe_line& line);
  void write(int worker, std::size_t most, take_line take, void* context) const noexcept;

 private:
  struct event;
  struct ring;

  ring& ring_of(const worker& w) noexcept;
  void add(const worker& w, const event& e) noexcept;
  static void describe(const event& e, base::safe_line& line) noexcept;

  const std::uint64_t base_cycles_;
  const std::uint64_t base_ns_;
  std::vector<std::unique_ptr<ring>> rings_;
};

}  // namespace apgas::inline v0::scheduler
