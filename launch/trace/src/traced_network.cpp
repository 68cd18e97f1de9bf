// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <mutex>
#include <utility>

#include "traced_network.hpp"

namespace apgas::inline v0::launch {

traced_transport::traced_transport(comm::transport& inside, const recorder_pointer& recorder)
    : forwarding_transport(inside),
      recorder_(recorder),
      links_(static_cast<std::size_t>(inside.size())) {}

// Requires: the lock of the link.
void traced_transport::record(link& on, comm::rank dest, const comm::frame_header& header,
                              std::size_t payload) noexcept {
  const std::uint64_t flow = scheduler::trace::frame_flow(here(), dest, on.frames++);
  scheduler::trace_recorder* const recorder = recorder_.load(base::acquire);  // P1
  if (recorder == nullptr) return;
  recorder->frame_sent(flow, static_cast<std::uint8_t>(header.kind), header.flags, dest,
                       comm::frame_bytes(payload));
}

void traced_transport::post(comm::rank dest, comm::buffer message) noexcept {
  comm::frame_header header;
  std::memcpy(&header, message.data(), sizeof header);
  link& on = to(dest);
  const std::lock_guard guard(on.lock);
  record(on, dest, header, header.length);
  inside().post(dest, std::move(message));
}

void traced_transport::write(comm::rank dest, const comm::frame_header& header,
                             std::span<const std::byte> payload) noexcept {
  link& on = to(dest);
  bool posted = false;
  {
    const std::lock_guard guard(on.lock);
    record(on, dest, header, payload.size());
    posted = pass_on(dest, header, payload);
  }
  if (posted) push();
}

traced_sink::traced_sink(comm::frame_sink& inside, comm::rank here, int places,
                         const recorder_pointer& recorder)
    : inside_(inside),
      here_(here),
      recorder_(recorder),
      frames_(static_cast<std::size_t>(places), 0) {}

// Each frame is handed on alone, so that the receiver does not join several into one task.
void traced_sink::on_frame(const comm::inbound_frame& frame) noexcept {
  const std::uint64_t number = frames_[static_cast<std::size_t>(frame.source)]++;
  scheduler::trace_recorder* const recorder = recorder_.load(base::acquire);  // P1
  if (recorder == nullptr) {
    inside_.on_frame(frame);
    return;
  }
  recorder->frame_received(scheduler::trace::frame_flow(frame.source, here_, number),
                           static_cast<std::uint8_t>(frame.header->kind), frame.header->flags,
                           frame.source, comm::frame_bytes(frame.payload.size()));
  inside_.on_frame(frame);
  inside_.on_message_end();
  recorder->frame_received(0, 0, 0, frame.source, 0);
}

}  // namespace apgas::inline v0::launch
