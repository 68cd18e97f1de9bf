// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/remote_call.hpp>

#include "traced_frames.hpp"

namespace apgas::inline v0::launch {

void traced_frames::sent(comm::rank dest, std::uint64_t number,
                         const comm::frame_header& header) noexcept {
  recorder_.frame_sent(scheduler::trace::frame_flow(place_.here, dest, number),
                       static_cast<std::uint8_t>(header.kind), header.flags, dest,
                       comm::frame_bytes(header.length));
}

void traced_frames::on_frame(const comm::inbound_frame& frame) noexcept {
  const std::uint64_t number = place_.endpoint->frames_received_from(frame.source) - 1;
  const std::uint64_t flow = scheduler::trace::frame_flow(frame.source, place_.here, number);
  recorder_.frame_received(flow, static_cast<std::uint8_t>(frame.header->kind), frame.header->flags,
                           frame.source, comm::frame_bytes(frame.payload.size()));
  if (frame.header->kind == comm::frame_kind::reply) {
    place_.calls->with(frame.header->handler,
                       [flow](sync::pending_call& call) { call.reply_comes(flow); });
  }
  behind_.on_frame(frame);
  behind_.on_message_end();
  recorder_.frame_received(0, 0, 0, frame.source, 0);
}

}  // namespace apgas::inline v0::launch
