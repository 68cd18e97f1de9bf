// SPDX-License-Identifier: Apache-2.0

#include "ring_sender.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/out_of_memory.hpp>

#include "rank_names.hpp"

namespace apgas::inline v0::comm {

ring_sender::ring_sender(mapped_segment to, rank dest, std::size_t index, std::size_t places,
                         buffer_pool& pool) noexcept
    : dest_(dest),
      to_(std::move(to)),
      index_(index),
      pool_(pool),
      ring_(to_.positions(index), ring_capacity(places)),
      bytes_(to_.ring(index)) {}

// Writes the word of a record, and returns where its bytes go; null if there is no room.
// Requires: lock_.
std::byte* ring_sender::reserve(record_kind kind, std::size_t length, std::uint8_t run) noexcept {
  const std::uint64_t offset = ring_.reserve(record_bytes(length));
  if (offset == ring_producer::no_room) return nullptr;
  if (offset == ring_producer::impossible) {
    base::fatal(fmt::format("place {} has written an impossible position into the memory that it "
                            "shares with this place",
                            dest_));
  }
  const record_word word{.length = static_cast<std::uint32_t>(length),
                         .kind = kind,
                         .run = run,
                         .position = record_position(offset)};
  std::memcpy(bytes_ + offset, &word, sizeof word);
  return bytes_ + offset + sizeof word;
}

// Requires: lock_; reserve() has returned memory for a record of that length.
void ring_sender::publish(std::size_t length) noexcept {
  ring_.publish(record_bytes(length));
  if (announced_) return;
  to_.header().senders[index_ / 64].fetch_or(std::uint64_t{1} << index_ % 64, base::release);
  announced_ = true;
}

std::size_t ring_sender::write(const frame_header& header, std::span<const std::byte> payload,
                               std::uint8_t run) noexcept {
  const std::size_t bytes = frame_bytes(payload.size());
  {
    const std::scoped_lock guard(lock_);
    ++written_.frames;
    written_.bytes += bytes;
    std::byte* const to = waits() ? nullptr : reserve(record_kind::frames, bytes, run);
    if (to == nullptr) {
      or_end_job(bytes, {"to", dest_, host_of_rank(dest_)},
                 [&] { join(header, payload, bytes); });
      return bytes;
    }
    write_frame(to, header, payload);
    publish(bytes);
  }
  to_.wake_owner();
  return 0;
}

// Appends a frame to the frames that wait.
// Requires: lock_.
void ring_sender::join(const frame_header& header, std::span<const std::byte> payload,
                       std::size_t bytes) {
  if (joined_ && joined_.size() + bytes > longest_content) {
    waiting_.push_back(dest_, std::exchange(joined_, buffer{}));
  }
  if (!joined_) joined_ = pool_.get(longest_content);
  const std::size_t end = joined_.size();
  write_frame(joined_.data() + end, header, payload);
  joined_.resize(end + bytes);
  has_waiting_.store(true, base::relaxed);
}

std::size_t ring_sender::send(buffer message, std::uint8_t run) noexcept {
  const std::size_t bytes = message.size();
  {
    const std::scoped_lock guard(lock_);
    if (waits() || !write_message(message, run)) {
      if (joined_) waiting_.push_back(dest_, std::exchange(joined_, buffer{}));
      waiting_.push_back(dest_, std::move(message));
      has_waiting_.store(true, base::relaxed);
      if (begun_ == 0) return bytes;
    }
  }
  to_.wake_owner();
  return waits() ? bytes : 0;
}

}  // namespace apgas::inline v0::comm
