// SPDX-License-Identifier: Apache-2.0

// Sending while frames are observed: each is told to the observer, in the order in which it is
// sent, and none waits in a batch, so that it is told in the task that sends it. With a seed frames
// wait as usual, because the seed decides whether they do.

#include <mutex>
#include <thread>
#include <utility>

#include <apgas/comm/endpoint.hpp>

#include "endpoint_channel.hpp"

namespace apgas::inline v0::comm {

void endpoint::observe(frame_observer* observer, frame_sink& sink) noexcept {
  observer_.store(observer, base::release);  // P2 of endpoint.hpp
  for (rank r = 0; r < size(); ++r) {
    channel& to = channels_[static_cast<std::size_t>(r)];
    to.writes_frames.store(to.may_write && observer == nullptr, base::relaxed);
  }
  sink_.store(&sink, base::release);  // P2 of endpoint.hpp
}

// Sends a small frame.
void endpoint::send_alone(rank dest, const frame_header& header,
                          std::span<const std::byte> payload) {
  channel& to = channels_[static_cast<std::size_t>(dest)];
  const std::size_t bytes = frame_bytes(payload.size());
  buffer message;
  if (!to.may_write) {
    message = network_.pool().get(bytes);
    write_frame(message.data(), header, payload);
    message.resize(bytes);
  }
  {
    const std::scoped_lock guard(to.lock);
    if (to.frames != 0) network_.post(dest, close_message(to, dest, flush_reason::full));
    frame_header told = header;
    told.length = static_cast<std::uint32_t>(payload.size());
    tell_observer(to, dest, told);
    if (to.may_write) {
      network_.write(dest, header, payload);
    } else {
      to.count_message(1, bytes, flush_reason::at_once);
      network_.post(dest, std::move(message));
    }
  }
  network_.push();
  to.last_post.store(clock::now(), base::relaxed);
}

// Requires: the next frame to `dest` is this one, since no other thread sends: with a seed only one
// runs.
void endpoint::tell_observer_of_small(channel& to, rank dest, frame_header header,
                                      std::size_t length) noexcept {
  header.length = static_cast<std::uint32_t>(length);
  const std::scoped_lock guard(to.lock);
  tell_observer(to, dest, header);
}

// Requires: the channel's lock.
void endpoint::tell_observer(const channel& to, rank dest, const frame_header& header) noexcept {
  frame_observer* const observer = observer_.load(base::acquire);  // P2 of endpoint.hpp
  if (observer == nullptr) return;
  const std::uint64_t written = to.may_write ? network_.written(dest).frames : 0;
  observer->sent(dest, to.sent.frames_sent + to.frames + written, header);
}

}  // namespace apgas::inline v0::comm
