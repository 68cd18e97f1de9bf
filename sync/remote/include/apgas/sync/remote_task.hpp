// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <source_location>
#include <utility>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/handler.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_finish.hpp>

// Tasks that come in frames. The payload is: the spawn site, what the thunk wants, and the id of a
// reducer when the header says so.
namespace apgas::inline v0::sync {

// A spawn site as a number that means the same in every process of the job; 0: unknown.
std::uint64_t encode_site(std::source_location site) noexcept;
std::source_location decode_site(std::uint64_t code) noexcept;

// frame_header::handler of the control frames that report started tasks (flow_control.hpp); the
// total is in `credit`. Those with the bit control_memory are for place_state::memory. Other
// control frames are launch's, which passes on those with the bit control_team.
inline constexpr std::uint64_t control_flow = std::uint64_t{1} << 63;
inline constexpr std::uint64_t control_memory = std::uint64_t{1} << 61;

// One task frame that was counted in its finish and waits for a worker.
struct remote_task : scheduler::external_task {
  comm::inbound_frame frame;  // holds a reference to its block until done()
  finish_core* finish = nullptr;
  place_state* place = nullptr;
  std::size_t bytes = 0;  // of the frame, for flow control

  ~remote_task() { done(); }

  // For decode_site. Context: the task, before done().
  std::uint64_t site() const noexcept {
    std::uint64_t code = 0;
    std::memcpy(&code, frame.payload.data(), sizeof code);
    return code;
  }
  // What the thunk wrote at the other side. Context: the task, before done().
  comm::in_archive arguments() const {
    return comm::in_archive(frame.payload.subspan(8), &place->network->cma_process_of(frame.source));
  }
  // The block may go: everything was decoded. Again: no effect.
  void done() noexcept {
    if (frame.owner != nullptr) std::exchange(frame.owner, nullptr)->release();
  }
};

// Whether a task has spawned children here that have not run, since this was made at its begin.
class children_mark {
 public:
  explicit children_mark(scheduler::fiber& self) noexcept
      : self_(self), generation_(self.generation), base_(self.on->tasks.head()) {}
  bool has_children() const noexcept {
    return self_.on->tasks.head() != (self_.generation == generation_ ? base_ : self_.base);
  }

 private:
  scheduler::fiber& self_;
  std::uint64_t generation_;
  scheduler::slot* base_;
};

// What runs a task frame: decodes arguments(), calls done(), runs the body. Must not throw. Returns
// the counter to complete when the children have run, or null when it gave up its unit.
// Context: task, fresh.
using task_thunk = scheduler::task_counter*(remote_task&, scheduler::fiber&);

// Sends a task to `dest`, this place included. Begin the payload with start_payload.
// Context: task. May suspend while too much is under way to that place.
void start_payload(comm::out_archive& payload, std::source_location site);
// `flags`: of frame_flags.
void send_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
               comm::out_archive& payload, std::uint8_t flags = 0);
void send_uncounted_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                         comm::out_archive& payload);

// Takes the frames of one place and hands them on.
class frame_receiver final : public comm::frame_sink {
 public:
  explicit frame_receiver(place_state& place) : place_(place) {}
  // Control frames of no protocol below go to launch. Set before any arrives. Throws:
  // std::bad_alloc.
  using control_function = void (*)(void* context, const comm::inbound_frame& frame);
  void set_control(control_function function, void* context) {
    control_ = function;
    control_context_ = context;
  }

  void on_frame(const comm::inbound_frame& frame) noexcept override;
  void on_message_end() noexcept override;

 private:
  // Spawns of one finish that follow each other in a message; see task_batch.
  struct frame_batch {
    comm::inbound_frame first{};
    std::optional<arrived_frames> frames{};
    std::size_t bytes = 0;
  };

  // These throw std::bad_alloc.
  void hand_on(const comm::inbound_frame& frame);
  bool join_batch(const comm::inbound_frame& frame);
  void take_batch();
  void on_task(const comm::inbound_frame& frame);

  [[noreturn]] void failed(const comm::inbound_frame& first, std::size_t bytes) const noexcept;

  place_state& place_;
  frame_batch batch_;
  control_function control_ = nullptr;
  void* control_context_ = nullptr;
};

}  // namespace apgas::inline v0::sync
