// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>

#include <apgas/comm/endpoint.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/monitor_core.hpp>

// What the tasks of one place have in common; found from any task through its worker. Several may
// exist in a process.
namespace apgas::inline v0::sync {

class remote_finishes;
class remote_calls;
class flow_control;
class remote_phases;

// Anything a higher layer keeps per place (tables of global references, ...).
class place_extension {
 public:
  place_extension() = default;
  place_extension(const place_extension&) = delete;
  place_extension& operator=(const place_extension&) = delete;
  virtual ~place_extension() = default;
};

// The same, with control frames of its own (control_memory in remote_task.hpp).
class frame_extension : public place_extension {
 public:
  // Context: handler. Throws: std::bad_alloc.
  virtual void on_frame(const comm::inbound_frame& frame) = 0;
};

struct place_state {
  comm::rank here = 0;
  int places = 1;
  int tree_from = 64;       // places; with fewer, each returns straight home (tree_return.hpp)
  int team_warning_s = 10;  // teams that wait for each other so long are reported; 0: not
  scheduler::scheduler* tasks = nullptr;
  comm::endpoint* network = nullptr;  // also with one place: a place can send to itself
  remote_finishes* finishes = nullptr;
  remote_calls* calls = nullptr;
  flow_control* flow = nullptr;
  remote_phases* phases = nullptr;
  place_extension* globals = nullptr;  // of module places
  place_extension* teams = nullptr;    // the same
  frame_extension* memory = nullptr;   // of module places
  monitor_core atomic_sections{};      // atomic and when
  // Takes an exception of a future that nobody looked at, for the root finish; null: it is printed.
  // Context: any thread, with a lock held (unobserved.hpp); must not run user code.
  void (*unobserved)(place_state&, std::exception_ptr, const spawn_site&) noexcept = nullptr;
};

// The place of the running task. Context: task.
inline place_state& place_of(const scheduler::fiber& self) noexcept {
  return *static_cast<place_state*>(self.on->home->environment());
}

}  // namespace apgas::inline v0::sync
