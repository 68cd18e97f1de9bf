// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <source_location>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/comm/archive.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/handler.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_finish.hpp>

// Tasks that arrive in frames. The payload of such a frame is the spawn site, then what the thunk
// needs, then the handler id of a reducer if the header says so. Spawns that follow each other
// share a frame, with the site and the credit of the first one (comm/task_list.hpp).
namespace apgas::inline v0::sync {

// Convert a spawn site to a number that means the same in every process of the job, and back. 0 is
// an unknown site. Context: any thread.
std::uint64_t encode_site(std::source_location site) noexcept;
APGAS_API std::source_location decode_site(std::uint64_t code) noexcept;

// frame_header::handler of control frames. control_flow is a report of started tasks
// (flow_control.hpp), whose total is in `credit`. Frames with the bit control_memory go to
// place_state::memory. All others go to module launch, which passes on those with the bit
// control_team, and takes those with control_watch itself.
inline constexpr std::uint64_t control_flow = std::uint64_t{1} << 63;
inline constexpr std::uint64_t control_memory = std::uint64_t{1} << 61;

// A task frame that is counted in its finish.
struct remote_task {
  comm::inbound_frame frame{};  // holds a reference to its buffer until done(); without the site
  finish_core* finish = nullptr;
  place_state* place = nullptr;
  std::size_t bytes = 0;   // size of the frame, for flow control; 0: not counted
  std::uint64_t site = 0;  // the encoded spawn site
  std::uint64_t call = 0;  // the number of the call that the task serves, with the bit call_of_at

  remote_task() = default;
  // A task that owns a reference to the buffer of `arrived`.
  remote_task(const comm::inbound_frame& arrived, place_state& at) noexcept
      : frame(arrived), place(&at) {}
  remote_task(remote_task&& other) noexcept
      : frame(other.frame),
        finish(other.finish),
        place(other.place),
        bytes(other.bytes),
        site(other.site) {
    other.frame.owner = nullptr;
  }
  remote_task& operator=(remote_task&&) = delete;
  ~remote_task() { done(); }

  // Returns an archive over what the sender's thunk wrote. Context: the task, before done().
  comm::in_archive arguments() const {
    return comm::in_archive(frame.payload, &place->endpoint->cma_process_of(frame.source));
  }
  // Releases the buffer, once everything has been decoded. A second call has no effect.
  void done() noexcept {
    if (frame.owner != nullptr) std::exchange(frame.owner, nullptr)->release();
  }
};

// Tells reports, while it exists, which task that came in a frame runs on a fiber.
class arrived_mark {
 public:
  arrived_mark(scheduler::fiber& self, const remote_task& task) noexcept
      : self_(self), below_(std::exchange(self.arrived, &task)) {}
  ~arrived_mark() { self_.arrived = below_; }
  arrived_mark(const arrived_mark&) = delete;
  arrived_mark& operator=(const arrived_mark&) = delete;

  // Returns the task, or null if there is none. Requires: the fiber does not run.
  static const remote_task* of(const scheduler::fiber& f) noexcept {
    return static_cast<const remote_task*>(f.arrived);
  }

 private:
  scheduler::fiber& self_;
  const void* below_;
};

// Tells whether a task has spawned children at this place that have not run. It is made when the
// task starts.
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

// The function that runs a task frame. It decodes arguments(), calls done() and runs the body. It
// returns the counter in which the task is counted, to be released after its children have run, or
// null if it has released the count itself. It must not throw.
// Context: a task that has just started.
using task_thunk = scheduler::task_counter*(remote_task&, scheduler::fiber&);

// Sends a task to `dest`, which may be this place. The payload must have been begun with
// start_payload. Context: task. May suspend and resume on another worker, while flow control
// requires it. Throws: serialization_error, std::bad_alloc.
APGAS_API void start_payload(comm::out_archive& payload, std::source_location site);
// `flags` are frame_flags. The finish of the calling task waits for the task.
APGAS_API void send_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                         comm::out_archive& payload, std::uint8_t flags = 0);
// The same, but only the root finish waits for the task.
APGAS_API void send_uncounted_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                                   comm::out_archive& payload);
// The same for a task at this place that needs only the address of its closure, which belongs to it
// once the call has returned.
APGAS_API void send_local_closure(scheduler::fiber& self, comm::handler_id thunk, void* closure,
                                  std::source_location site);
// Returns this address, and releases the buffer of the frame. Ends the job if the frame came from
// another place. Context: the task.
APGAS_API void* take_local_closure(remote_task& task);

}  // namespace apgas::inline v0::sync
