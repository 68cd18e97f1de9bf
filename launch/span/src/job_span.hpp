// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <apgas/base/settings.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/scheduler/span_profile.hpp>
#include <apgas/sync/place_state.hpp>

#include "profiled_network.hpp"

// The profile of work and span of a job (APGAS_PROFILE=span), as one place sees it: its recorder,
// the network that carries paths, and the report of place 0 at the end.
namespace apgas::inline v0::launch {

class job_span {
 public:
  // `network` and `receiver` are those of the place, between which the endpoint will stand.
  job_span(const base::settings& settings, comm::transport& network, comm::frame_sink& receiver,
           const sync::place_state& place)
      : settings_(settings),
        place_(place),
        network_(network, place, profile_),
        receiver_(receiver, place, profile_) {}
  job_span(const job_span&) = delete;
  job_span& operator=(const job_span&) = delete;

  // What the endpoint is to use instead of them.
  comm::transport& network() noexcept { return network_; }
  comm::frame_sink& receiver() noexcept { return receiver_; }

  // Makes the observer of the scheduler. `clock` replaces the clock, for tests; it counts
  // nanoseconds. Throws: launch_error if place 0 cannot write the file; std::bad_alloc.
  scheduler::task_observer& start(int workers, bool shares_run,
                                  std::uint64_t (*clock)() noexcept = nullptr);

  // Sends what this place has found to place 0, which waits for all of it and reports. Context: at
  // every place, when its scheduler has ended. Throws: std::bad_alloc.
  void end();
  // Place 0: what another place has found. Context: handler.
  void on_part(const comm::inbound_frame& frame);

 private:
  const base::settings& settings_;
  const sync::place_state& place_;
  profile_pointer profile_;
  profiled_transport network_;
  profiled_sink receiver_;
  int parts_ = 0;
};

// frame_header::handler of a frame that on_part() takes.
inline constexpr std::uint64_t control_span_part = 2;

}  // namespace apgas::inline v0::launch
