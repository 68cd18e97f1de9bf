// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>

#include <apgas/base/biased_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/monitor_core.hpp>

// The state that all tasks of one place share. A task finds it through its worker. A process may
// contain several places.
namespace apgas::inline v0::sync {

class remote_finishes;
class remote_calls;
class flow_control;
class remote_phases;

// Base class of what a higher module keeps for each place, such as its table of global references.
class place_extension {
 public:
  place_extension() = default;
  place_extension(const place_extension&) = delete;
  place_extension& operator=(const place_extension&) = delete;
  virtual ~place_extension() = default;
};

// The same for a module that receives control frames of its own (control_memory in
// remote_task.hpp).
class frame_extension : public place_extension {
 public:
  // Handles one frame. Throws: std::bad_alloc. Context: handler.
  virtual void on_frame(const comm::inbound_frame& frame) = 0;
};

struct place_state {
  comm::rank here = 0;
  int places = 1;
  int finish_tree_places = 64;  // number of places from which on returns follow the spawn tree
  int team_warning_s = 10;  // report teams that wait for each other so long, in seconds; 0: never
  bool oversubscribed = false;  // more workers than processors
  bool seeded = false;  // a seeded schedule decides what is next, so nothing may depend on time
  scheduler::scheduler* task_scheduler = nullptr;
  comm::endpoint* endpoint = nullptr;  // never null: a single place sends messages to itself
  remote_finishes* finishes = nullptr;
  remote_calls* calls = nullptr;
  flow_control* flow = nullptr;
  remote_phases* phases = nullptr;
  place_extension* globals = nullptr;  // these three belong to module places
  place_extension* teams = nullptr;
  frame_extension* memory = nullptr;
  // The owner of the locks that are taken for each message (scheduler::config::network_locks).
  std::shared_ptr<base::lock_owner> network_locks = std::make_shared<base::lock_owner>();
  monitor_core atomic_sections{};  // the monitor of apgas::atomic and apgas::when
  // Hands the exception of an unobserved future to the root finish. If null, it is printed instead.
  // Context: any thread, with a lock held (unobserved.hpp); must not run user code.
  void (*unobserved)(place_state&, std::exception_ptr, const spawn_site&) noexcept = nullptr;
};

// Returns the state of the place at which the task runs. Context: task.
inline place_state& place_of(const scheduler::fiber& self) noexcept {
  return *static_cast<place_state*>(self.on->home->environment());
}

}  // namespace apgas::inline v0::sync
