// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <apgas/base/settings.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/places/place_memory.hpp>
#include <apgas/places/remote_teams.hpp>
#include <apgas/scheduler/core_partition.hpp>
#include <apgas/scheduler/observer_pair.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/scheduler/seeded_schedule.hpp>
#include <apgas/sync/finish_core.hpp>
#include <apgas/sync/flow_control.hpp>
#include <apgas/sync/frame_receiver.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_finish.hpp>
#include <apgas/sync/remote_phases.hpp>
#include <apgas/sync/remote_task.hpp>

#include "control_server.hpp"
#include "job_span.hpp"
#include "job_trace.hpp"
#include "job_trail.hpp"
#include "job_watch.hpp"
#include "root_task.hpp"
#include "statistics_output.hpp"
#include "unobserved_failures.hpp"

// One place for the time of one run: everything it owns, in the order of construction. This is
// where the scheduler and the network meet.
namespace apgas::inline v0::launch {

class place_runtime {
 public:
  // Begins the start-up exchange with the other places. Throws: launch_error.
  // `schedule` is that of a run with a seed, and outlives the object; else null.
  place_runtime(const comm::chosen_transport& chosen, const base::settings& settings,
                scheduler::seeded_schedule* schedule = nullptr);
  place_runtime(const place_runtime&) = delete;
  place_runtime& operator=(const place_runtime&) = delete;
  ~place_runtime();

  // Replaces the clock of the profile of work and span, for tests. It counts nanoseconds on the
  // thread of a worker. Requires: start() has not been called.
  void use_profile_clock(std::uint64_t (*clock)() noexcept) noexcept { profile_clock_ = clock; }

  // Waits for all places, which must agree. Throws: launch_error, at every place.
  void bootstrap();
  // Starts the workers. Requires: bootstrap().
  void start();

  // Place 0: runs main under the root finish. The code is the program's. Then all places are told.
  int run_main(const std::function<int()>& main);
  // The same in two steps: the task begins; all places are told its code when it has ended.
  void start_main(root_task& main);
  int end_main(root_task& main);
  // The others: waits for that.
  int wait_for_end();

  // Stops the workers and waits until no message is on its way anywhere. Context: outside tasks, at
  // every place.
  void stop();

  const sync::place_state& state() const noexcept { return state_; }
  // Asks all places what they do; null except at place 0. Requires: start().
  const std::shared_ptr<activity_question>& activity() const noexcept { return activity_; }
  // Says what the tasks of all places wait for. Requires: start(). After stop() it says nothing.
  job_explanation& explanation() noexcept { return watch_; }
  // Begins and ends traces for tools, at place 0. Requires: start(). Until stop().
  job_trace& trace() noexcept { return trace_; }
  // Requires: start(). Until stop().
  scheduler::scheduler& workers() noexcept { return *scheduler_; }

 private:
  class network_events;

  // Receives the frames of this place unless a trace is recorded.
  comm::frame_sink& usual_sink() noexcept {
    return profile_ ? profile_->receiver() : static_cast<comm::frame_sink&>(receiver_);
  }
  void print_hosts();
  scheduler::task_observer* together(scheduler::task_observer& first,
                                     scheduler::task_observer* second);
  void on_control(const comm::inbound_frame& frame);
  void tell_others(int code);

  base::settings settings_;
  scheduler::seeded_schedule* schedule_;
  std::string why_transport_;
  scheduler::core_share share_;  // of the cores of the host; from bootstrap() on
  runtime_state state_;
  sync::frame_receiver receiver_;
  std::unique_ptr<job_span> profile_;  // null without APGAS_PROFILE
  job_trace trace_;
  comm::endpoint endpoint_;
  sync::remote_calls calls_;
  sync::flow_control flow_;
  sync::remote_finishes finishes_;
  sync::remote_phases phases_;
  remote::global_table globals_;
  remote::remote_teams teams_;
  remote::place_memory memory_;
  job_watch watch_;
  std::unique_ptr<network_events> events_;
  std::unique_ptr<job_trail> trail_;                              // null without APGAS_TRAIL
  std::vector<std::unique_ptr<scheduler::observer_pair>> pairs_;  // that pass events on to these
  std::unique_ptr<scheduler::scheduler> scheduler_;
  std::unique_ptr<statistics_output> statistics_;  // these two at place 0, from start() on
  std::shared_ptr<activity_question> activity_;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<int> code_;
  std::uint64_t (*profile_clock_)() noexcept = nullptr;  // null: the usual one
};

}  // namespace apgas::inline v0::launch
