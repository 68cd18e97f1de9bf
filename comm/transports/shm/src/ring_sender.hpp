// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sending side of a ring: from this place to another place of its host. Frames and messages are
// written to the ring at once if they fit. Otherwise they wait here, in order, and advance() writes
// them when the receiver has made room.
//
//   lock_          protects all members but the following
//   has_waiting_   written by the holder of the lock, read by any thread

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/transport.hpp>

#include "host_segment.hpp"
#include "ring_record.hpp"

namespace apgas::inline v0::comm {

class ring_sender {
 public:
  // `to` is the segment of rank `dest`, and `index` the index of this place on its host.
  ring_sender(mapped_segment to, rank dest, std::size_t index, std::size_t places,
              buffer_pool& pool) noexcept;

  // Sends one frame, and returns the number of bytes that have to wait.
  // Context: any thread. Ends the job if there is no memory for a frame that has to wait.
  std::size_t write(const frame_header& header, std::span<const std::byte> payload,
                    std::uint8_t run) noexcept;
  // Sends a message, and returns the number of bytes that have to wait.
  // Context: any thread.
  std::size_t send(buffer message, std::uint8_t run) noexcept;
  // Writes what waits, as far as there is room, and returns the number of bytes of the messages that
  // wait no longer.
  // Context: any thread.
  // Cost: one load if nothing waits.
  std::size_t advance(std::uint8_t run) noexcept;
  // Whether the receiver has taken everything.
  // Context: any thread.
  bool drained() noexcept;

  // What write() has sent.
  // Context: any thread.
  frame_counts written() noexcept;

 private:
  std::byte* reserve(record_kind kind, std::size_t length, std::uint8_t run) noexcept;
  void publish(std::size_t length) noexcept;
  bool write_message(const buffer& message, std::uint8_t run) noexcept;
  std::size_t advance_locked(std::uint8_t run) noexcept;
  void join(const frame_header& header, std::span<const std::byte> payload, std::size_t bytes);
  bool waits() const noexcept { return has_waiting_.load(base::relaxed); }

  base::spin_lock lock_;
  const rank dest_;
  const mapped_segment to_;
  const std::size_t index_;
  buffer_pool& pool_;
  ring_producer ring_;
  std::byte* const bytes_;
  bool announced_ = false;  // the receiver knows that this ring is in use
  frame_counts written_;
  message_chain waiting_;
  buffer joined_;           // frames that wait, all of them after waiting_
  std::size_t begun_ = 0;   // bytes of the first message of waiting_ that were written
  base::atomic<bool> has_waiting_{false};
};

}  // namespace apgas::inline v0::comm
