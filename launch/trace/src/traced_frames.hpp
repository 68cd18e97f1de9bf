// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <apgas/comm/endpoint.hpp>
#include <apgas/scheduler/trace_recorder.hpp>
#include <apgas/sync/place_state.hpp>

// Records the frames that a place sends, and those that it receives before it hands them on. Frames
// between two places arrive in the order in which they are sent, so both sides number them alike,
// and nothing more need be sent: the number is that of the arrow from one place to the other. A
// call is told the number of its reply, which may come before the caller is suspended.
namespace apgas::inline v0::launch {

class traced_frames final : public comm::frame_observer, public comm::frame_sink {
 public:
  // `behind` is the usual sink of the endpoint.
  traced_frames(sync::place_state& place, comm::frame_sink& behind,
                scheduler::trace_recorder& recorder) noexcept
      : place_(place), behind_(behind), recorder_(recorder) {}

  void sent(comm::rank dest, std::uint64_t number,
            const comm::frame_header& header) noexcept override;
  // Each frame is handed on alone, so that the receiver does not join several into one task.
  void on_frame(const comm::inbound_frame& frame) noexcept override;
  void on_message_end() noexcept override { behind_.on_message_end(); }
  void on_bad_message(comm::rank source, const std::string& what) noexcept override {
    behind_.on_bad_message(source, what);
  }

 private:
  sync::place_state& place_;
  comm::frame_sink& behind_;
  scheduler::trace_recorder& recorder_;
};

}  // namespace apgas::inline v0::launch
