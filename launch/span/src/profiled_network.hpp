// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <apgas/comm/endpoint.hpp>
#include <apgas/scheduler/span_profile.hpp>
#include <apgas/sync/place_state.hpp>

#include "forwarding_transport.hpp"

// The two sides of a network in a run with APGAS_PROFILE=span. profiled_transport stands between
// the endpoint and the transport, and appends to each frame the path that leads to it;
// profiled_sink stands between the endpoint and the receiver of its frames, and removes it again.
// So the modules in between know nothing of paths, and without the profile a frame has no room for
// one. All places of a job have the profile, or none (settings_that_must_agree).
//
// Wire: after the payload of each frame, the words of span_profile::departs() and their number.
namespace apgas::inline v0::launch {

// Null until the workers of the place start. Nothing is sent or received before that.
using profile_pointer = std::unique_ptr<scheduler::span_profile>;

class profiled_transport final : public forwarding_transport {
 public:
  profiled_transport(comm::transport& inside, const sync::place_state& place,
                     const profile_pointer& profile)
      : forwarding_transport(inside), place_(place), profile_(profile) {}

  void post(comm::rank dest, comm::buffer message) noexcept override;
  // Values that teams exchange in shared memory would bring no path along, so they send messages.
  std::span<std::byte> shared_area(comm::rank) const noexcept override { return {}; }
  bool shares_areas() const noexcept override { return false; }
  void write(comm::rank dest, const comm::frame_header& header,
             std::span<const std::byte> payload) noexcept override;

 private:
  std::vector<std::uint64_t> words_of(const comm::frame_header& header) noexcept;

  const sync::place_state& place_;
  const profile_pointer& profile_;
};

class profiled_sink final : public comm::frame_sink {
 public:
  profiled_sink(comm::frame_sink& inside, const sync::place_state& place,
                const profile_pointer& profile)
      : inside_(inside), place_(place), profile_(profile) {}

  // Each frame is handed on alone, so that the receiver does not join several into one task.
  void on_frame(const comm::inbound_frame& frame) noexcept override;
  void on_bad_message(comm::rank source, const std::string& what) noexcept override {
    inside_.on_bad_message(source, what);
  }

 private:
  scheduler::arriving_frame describe(const comm::frame_header& header,
                                     const void* payload) const noexcept;

  comm::frame_sink& inside_;
  const sync::place_state& place_;
  const profile_pointer& profile_;
};

}  // namespace apgas::inline v0::launch
