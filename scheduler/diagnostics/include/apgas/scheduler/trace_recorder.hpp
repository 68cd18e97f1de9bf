// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <apgas/base/cycles.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/scheduler/trace_format.hpp>

// Records the events of one place for a trace (trace_format.hpp): what task_observer tells, and the
// frames that the layer above sends and receives. An event costs some 20 ns. The memory is bounded;
// when that of a thread is full, its oldest events are dropped and counted.
//
// Pairs
//   P1  A thread that sees recording_ == false sees the times that stop() has read. A thread that
//       sees recording_ == true sees those that begin() has read.
//   P2  A thread that sees home_ sees the complete scheduler.
//   P3  A thread that sees the frame_flow_ of another thread also sees that polling_thread_ is that
//       one, and so does not take the flow for its own.
//   P4  A thread that sees lanes_ sees the empty lanes of the recording.
namespace apgas::inline v0::scheduler {

struct trace_options {
  int place = 0;
  int places = 1;
  int workers = 1;
  std::size_t bytes_of_worker = std::size_t{64} << 20;
  bool only_stolen = false;  // leaves out tasks that the frame which spawned them runs itself
  std::function<std::uint64_t()> bytes_in_flight = {};  // context: any worker
};

class trace_recorder final : public task_observer {
 public:
  // Throws: std::bad_alloc.
  explicit trace_recorder(trace_options options);
  ~trace_recorder() override;

  // Must be called once the scheduler exists; before, its workers count as other threads for some
  // events.
  void set_scheduler(scheduler& home) noexcept {
    home_.store(&home, base::release);  // P2
  }

  void spawned(fiber& parent, observed_task& child) noexcept override;
  void begins(fiber& self, observed_task& task) noexcept override;
  void ends(fiber& self, observed_task& task) noexcept override;
  void described(fiber& self) noexcept override;
  void suspends(fiber& self, const wait_record& why) noexcept override;
  void resumes(fiber& self, std::uint64_t cause) noexcept override;
  std::uint64_t makes_ready(const fiber& f) noexcept override;
  std::uint64_t submits() noexcept override;
  void phase_ends(const void* node, const wait_record* of) noexcept override;
  void worker_begins(worker& w, worker_activity what) noexcept override;
  void worker_did(worker& w, worker_activity what, std::uint64_t begun,
                  std::uint64_t detail) noexcept override;

  // A frame of `kind` and `flags` with `bytes` bytes goes to another place, or this one, or has
  // come from there; `flow` is its number (trace::frame_flow()). Context: any thread.
  void frame_sent(std::uint64_t flow, std::uint8_t kind, std::uint8_t flags, int to,
                  std::uint64_t bytes) noexcept;
  // Until the next call, the first task that the calling thread makes ready or submits has this
  // frame as its cause; a flow of 0 ends this. Context: the thread that polls the network.
  void frame_received(std::uint64_t flow, std::uint8_t kind, std::uint8_t flags, int from,
                      std::uint64_t bytes) noexcept;

  // Begins a recording, and forgets the one before. Throws: std::bad_alloc.
  // Context: any thread, while nothing is recorded.
  void begin();
  // Ends the recording, and reads the clocks again. Context: any thread.
  void stop() noexcept;
  bool recording() const noexcept { return recording_.load(base::acquire); }  // P1

  // Gives the memory of what has been recorded back to the system. Context: as begin().
  void forget() noexcept;

  // What has been recorded, as the pieces of trace_format.hpp in their order. `complete` is false
  // if the place dies. Context: after stop(), any thread; also in a handler of a signal.
  void for_each_piece(bool complete, void (*take)(void* context, std::span<const std::byte> bytes),
                      void* context) noexcept;
  std::vector<std::byte> bytes(bool complete);

 private:
  struct lane;
  struct lane_guard;
  using lanes = std::vector<std::unique_ptr<lane>>;

  std::uint64_t now() const noexcept { return base::cycles() - base_cycles_; }
  // For what another thread has caused: not before the event that caused it.
  std::uint64_t now_after_cause() const noexcept {
    return base::cycles_after_loads() - base_cycles_;
  }
  lane& lane_of(const worker& w) noexcept;
  lane& lane_of_others() noexcept;
  std::uint64_t label(lane& on, const std::source_location& site, const char* name) noexcept;
  std::uint64_t* room(lane& on, const fiber* self, std::size_t words, std::uint64_t time) noexcept;
  void know(lane& on, observed_task& task) noexcept;
  std::uint32_t write_stack(lane& on, observed_task* top, std::uint64_t time) noexcept;
  std::uint64_t next_flow() noexcept;
  void frame(trace::event_kind what, std::uint64_t flow, std::uint8_t kind, std::uint8_t flags,
             int other, std::uint64_t bytes) noexcept;
  void sample(lane& on, const fiber* self, std::uint64_t time) noexcept;

  const trace_options options_;
  const std::uint64_t base_cycles_;
  trace::header header_;
  base::atomic<bool> recording_{false};
  base::atomic<scheduler*> home_{nullptr};
  base::atomic<std::uint64_t> sampled_at_{0};
  struct texts;
  const std::unique_ptr<texts> texts_;
  // Of each worker, and one for all other threads. Those of earlier recordings stay, because a
  // thread may still write an event there that it began before the end.
  std::vector<std::unique_ptr<lanes>> all_lanes_;
  base::atomic<lanes*> lanes_{nullptr};

  // Of the thread that polls the network.
  base::atomic<std::uint64_t> polling_thread_{0};
  base::atomic<std::uint64_t> frame_flow_{0};
};

}  // namespace apgas::inline v0::scheduler
