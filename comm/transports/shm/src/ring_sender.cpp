// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/cycles.hpp>
#include <apgas/comm/out_of_memory.hpp>

#include "ring_sender.hpp"

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
    base::fatal(
        fmt::format("place {} has written an impossible position into the memory that it "
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

// Requires: lock_.
void ring_sender::publish() noexcept {
  ring_.publish();
  if (unpublished_ != 0) queued_.fetch_sub(1, base::relaxed);
  unpublished_ = 0;
  if (announced_) return;
  to_.header().senders[index_ / 64].fetch_or(std::uint64_t{1} << index_ % 64, base::relaxed);
  announced_ = true;
}

// Leaves a frame to the next publish(). One byte is counted as queued, so that this place goes on
// polling.
// Requires: lock_.
void ring_sender::publish_later() noexcept {
  if (unpublished_++ != 0) return;
  queued_.fetch_add(1, base::relaxed);
  unfinished_.store(true, base::relaxed);
}

void ring_sender::write(const frame_header& header, std::span<const std::byte> payload,
                        std::uint8_t run) noexcept {
  const std::size_t bytes = frame_bytes(payload.size());
  {
    const std::scoped_lock guard(lock_);
    frame_counts& counts = counts_of(run);
    ++counts.frames;
    counts.bytes += bytes;
    std::byte* const to = waits() ? nullptr : reserve(record_kind::frames, bytes, run);
    if (to == nullptr) {
      or_end_job(bytes, {"to", dest_, nullptr}, [&] { join(header, payload, bytes); });
      if (unpublished_ == 0) return;
    } else {
      write_frame(to, header, payload);
      ring_.add(record_bytes(bytes));
      const std::uint64_t now = base::cycles();
      const bool burst = now - std::exchange(last_write_, now) < burst_cycles;
      if (burst && unpublished_ + 1 < frames_at_once) return publish_later();
    }
    publish();
  }
  to_.wake_owner();
}

// Requires: lock_.
void ring_sender::add_waiting(std::size_t bytes) noexcept {
  queued_.fetch_add(bytes, base::relaxed);
  unfinished_.store(true, base::relaxed);
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
    ring_.add(record_bytes(size));
    publish();
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
    ring_.add(record_bytes(prefix + part));
    publish();
    begun_ += part;
  }
  return true;
}

bool ring_sender::advance(std::uint8_t run) noexcept {
  if (!unfinished_.load(base::relaxed)) return false;
  bool any = false;
  {
    const std::scoped_lock guard(lock_);
    any = unpublished_ != 0;
    if (any) publish();
    while (current_ || take_next()) {
      const std::size_t before = begun_;
      const bool complete = write_current(run);
      any |= complete || begun_ != before;
      if (!complete) break;
      queued_.fetch_sub(current_.size(), base::relaxed);
      current_ = buffer{};
    }
    if (!current_) unfinished_.store(false, base::relaxed);
  }
  if (any) to_.wake_owner();
  return any;
}

bool ring_sender::drained() noexcept {
  const std::scoped_lock guard(lock_);
  return !unfinished_.load(base::relaxed) && ring_.drained();
}

// Requires: lock_.
frame_counts& ring_sender::counts_of(std::uint8_t run) noexcept {
  if (std::exchange(counted_run_, run) != run) written_ = {};
  return written_;
}

frame_counts ring_sender::written(std::uint8_t run) noexcept {
  const std::scoped_lock guard(lock_);
  return counts_of(run);
}

}  // namespace apgas::inline v0::comm
