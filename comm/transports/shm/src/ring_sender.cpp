// SPDX-License-Identifier: Apache-2.0

#include "ring_sender.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/comm/out_of_memory.hpp>

namespace apgas::inline v0::comm {

ring_sender::ring_sender(mapped_segment to, rank dest, std::size_t index, std::size_t places,
                         buffer_pool& pool, base::atomic<std::size_t>& queued) noexcept
    : dest_(dest),
      to_(std::move(to)),
      index_(index),
      pool_(pool),
      queued_(queued),
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

void ring_sender::write(const frame_header& header, std::span<const std::byte> payload,
                        std::uint8_t run) noexcept {
  const std::size_t bytes = frame_bytes(payload.size());
  {
    const std::scoped_lock guard(lock_);
    ++written_.frames;
    written_.bytes += bytes;
    std::byte* const to = waits() ? nullptr : reserve(record_kind::frames, bytes, run);
    if (to == nullptr) {
      or_end_job(bytes, {"to", dest_, nullptr}, [&] { join(header, payload, bytes); });
      return;
    }
    write_frame(to, header, payload);
    publish(bytes);
  }
  to_.wake_owner();
}

// Requires: lock_.
void ring_sender::add_waiting(std::size_t bytes) noexcept {
  queued_.fetch_add(bytes, base::relaxed);
  has_waiting_.store(true, base::relaxed);
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
  add_waiting(bytes);
}

void ring_sender::send(buffer message, std::uint8_t run) noexcept {
  {
    const std::scoped_lock guard(lock_);
    add_waiting(message.size());
    if (joined_) waiting_.push_back(dest_, std::exchange(joined_, buffer{}));
    waiting_.push_back(dest_, std::move(message));
  }
  static_cast<void>(advance(run));
}

// Makes the next message that waits the current one. Returns false if there is none.
// Requires: lock_.
bool ring_sender::take_next() noexcept {
  begun_ = 0;
  if (!waiting_.empty()) {
    current_ = waiting_.pop_front();
  } else {
    current_ = std::exchange(joined_, buffer{});
  }
  return static_cast<bool>(current_);
}

// Writes the current message as one record or as several. Returns whether all of it was written.
// Requires: lock_.
bool ring_sender::write_current(std::uint8_t run) noexcept {
  const std::size_t size = current_.size();
  if (size <= longest_content) {
    std::byte* const to = reserve(record_kind::message, size, run);
    if (to == nullptr) return false;
    std::memcpy(to, current_.data(), size);
    publish(size);
    begun_ = size;
  }
  while (begun_ < size) {
    const bool first = begun_ == 0;
    const std::uint64_t total = size;
    const std::size_t prefix = first ? sizeof total : 0;
    const std::size_t part = std::min(size - begun_, longest_content - prefix);
    std::byte* const to =
        reserve(first ? record_kind::begin : record_kind::more, prefix + part, run);
    if (to == nullptr) return false;
    std::memcpy(to, &total, prefix);
    std::memcpy(to + prefix, current_.data() + begun_, part);
    publish(prefix + part);
    begun_ += part;
  }
  return true;
}

bool ring_sender::advance(std::uint8_t run) noexcept {
  if (!waits()) return false;
  bool any = false;
  {
    const std::scoped_lock guard(lock_);
    while (current_ || take_next()) {
      const std::size_t before = begun_;
      const bool complete = write_current(run);
      any |= complete || begun_ != before;
      if (!complete) break;
      queued_.fetch_sub(current_.size(), base::relaxed);
      current_ = buffer{};
    }
    if (!current_) has_waiting_.store(false, base::relaxed);
  }
  if (any) to_.wake_owner();
  return any;
}

bool ring_sender::drained() noexcept {
  const std::scoped_lock guard(lock_);
  return !waits() && ring_.drained();
}

frame_counts ring_sender::written() noexcept {
  const std::scoped_lock guard(lock_);
  return written_;
}

}  // namespace apgas::inline v0::comm
