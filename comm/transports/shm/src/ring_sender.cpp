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
                         buffer_pool& pool, base::lock_owner& owner,
                         base::atomic<std::size_t>& queued, base::atomic<int>& unfinished) noexcept
    : lock_(owner),
      dest_(dest),
      to_(std::move(to)),
      index_(index),
      pool_(pool),
      queued_(queued),
      unfinished_senders_(unfinished),
      ring_(to_.positions(index), ring_capacity(places)),
      bytes_(to_.ring(index)) {}

// The offset of a record that has `length` bytes after its word; ring_producer::no_room if there is
// no room for it. Requires: lock_.
inline std::uint64_t ring_sender::reserve(std::size_t length) noexcept {
  const std::uint64_t offset = ring_.reserve(record_bytes(length));
  if (offset == ring_producer::impossible) refuse();
  return offset;
}

void ring_sender::refuse() const noexcept {
  base::fatal(
      fmt::format("place {} has written an impossible position into the memory that it "
                  "shares with this place",
                  dest_));
}

// Begins to fetch the first two lines of the next record for writing. If the receiver has read them
// in the last lap, they are in its cache. Requires: lock_.
inline void ring_sender::fetch_lines() const noexcept {
  const std::byte* const next = bytes_ + ring_.offset();
  __builtin_prefetch(next, 1);
  __builtin_prefetch(next + 64, 1);
}

// Writes the word of the record at a reserved offset. Requires: lock_.
inline void ring_sender::write_word(std::uint64_t offset, record_kind kind, std::size_t length,
                                    std::uint64_t run) noexcept {
  const record_word word{.length = static_cast<std::uint32_t>(length),
                         .kind = kind,
                         .run = run_of_record(run),
                         .position = record_position(offset)};
  std::memcpy(bytes_ + offset, &word, sizeof word);
}

// Makes the record at a reserved offset, whose bytes have been written, visible. Requires: lock_.
inline void ring_sender::publish(std::uint64_t offset, record_kind kind, std::size_t length,
                                 std::uint64_t run) noexcept {
  write_word(offset, kind, length, run);
  ring_.publish(record_bytes(length));
  after_record();
}

// Requires: lock_.
inline void ring_sender::after_record() noexcept {
  fetch_lines();
  if (!announced_) [[unlikely]]
    announce();
}

// Tells the receiver that this ring is in use. Requires: lock_.
[[gnu::cold]] void ring_sender::announce() noexcept {
  to_.header().senders[index_ / 64].fetch_or(std::uint64_t{1} << index_ % 64, base::relaxed);
  announced_ = true;
}

// Requires: lock_.
inline frame_counts& ring_sender::counts_of(std::uint64_t run) noexcept {
  if (std::exchange(counted_run_, run) != run) written_ = {};
  return written_;
}

// Determines whether frames follow each other quickly. The clock is read for the first frame of a
// record, when that has been written, and for every sixteenth of the others. Requires: lock_.
inline void ring_sender::look_for_burst(bool first) noexcept {
  ++since_clock_;
  if (!first && since_clock_ % frames_per_clock_read != 0) return;
  const std::uint64_t now = base::cycles();
  burst_ = now - std::exchange(last_clock_, now) <
           std::exchange(since_clock_, 0U) * std::uint64_t{burst_cycles};
}

// Writes a frame directly into the ring. Returns false if there is no room. Requires: lock_;
// nothing waits.
inline bool ring_sender::write_single(const frame_header& header,
                                      std::span<const std::byte> payload,
                                      std::uint64_t run) noexcept {
  const std::size_t bytes = frame_bytes(payload.size());
  const std::uint64_t offset = reserve(bytes);
  if (offset == ring_producer::no_room) return false;
  std::byte* const frame = bytes_ + offset + sizeof(record_word);
  write_frame(frame, header, payload);
  if (bytes > longest_copy) {
    publish(offset, record_kind::frames, bytes, run);
    return true;
  }
  write_word(offset, record_kind::frames, bytes, run);
  ring_.publish_with_copy(record_bytes(bytes), reinterpret_cast<const std::uint64_t*>(frame),
                          tag_of_run(run));
  after_record();
  return true;
}

void ring_sender::write(const frame_header& header, std::span<const std::byte> payload,
                        std::uint64_t run) noexcept {
  lock_.lock();
  frame_counts& counts = counts_of(run);
  ++counts.frames;
  counts.bytes += frame_bytes(payload.size());
  bool written = false;
  // If nothing is unfinished, nothing waits.
  if (!burst_ && !unfinished_.load(base::relaxed) && write_single(header, payload, run))
      [[likely]] {
    look_for_burst(true);
    written = true;
  } else {
    written = write_after_others(header, payload, run);
  }
  lock_.unlock();
  if (written) to_.wake_owner();
}

// Adds a frame to those that wait. Returns whether it wrote them. Requires: lock_.
[[gnu::noinline]] bool ring_sender::write_after_others(const frame_header& header,
                                                       std::span<const std::byte> payload,
                                                       std::uint64_t run) noexcept {
  const bool first = !message_waits() && (!joined_ || joined_.size() == 0);
  join(header, payload);
  look_for_burst(first);
  if (write_if_due(run)) return true;
  if (!std::exchange(joined_counted_, true)) {
    queued_.fetch_add(1, base::relaxed);
    set_unfinished(true);
  }
  return false;
}

bool ring_sender::add_task(const frame_header& header, std::span<const std::byte> payload,
                           std::uint64_t run, base::atomic<std::uint64_t>& bytes) noexcept {
  if (!last_.may_take(header)) return false;
  {
    const std::scoped_lock guard(lock_);
    if (!last_.may_take(header)) return false;  // since the look without the lock
    const std::size_t grown = last_.add(header, payload, longest_content - joined_.size());
    if (grown == 0) return false;
    joined_.resize(joined_.size() + grown);
    counts_of(run).bytes += grown;
    bytes.store(bytes.load(base::relaxed) + grown, base::relaxed);
    look_for_burst(false);
    if (!write_if_due(run)) return true;
  }
  to_.wake_owner();
  return true;
}

// Writes the joined frames, unless a message waits or more frames are likely to follow soon.
// Returns whether it wrote them. Requires: lock_; there are such frames.
bool ring_sender::write_if_due(std::uint64_t run) noexcept {
  const bool later = message_waits() || (burst_ && joined_.size() < burst_bytes);
  return !later && write_joined(run);
}

// Adds a frame to the joined ones. Requires: lock_.
void ring_sender::join(const frame_header& header, std::span<const std::byte> payload) noexcept {
  const std::size_t bytes = frame_bytes(payload.size());
  if (joined_ && joined_.size() + bytes > longest_content) enqueue_joined();
  or_end_job(bytes, {"to", dest_, nullptr}, [&] {
    if (!joined_) joined_ = pool_.get(longest_content);
  });
  last_.end();
  std::byte* const frame = joined_.data() + joined_.size();
  write_frame(frame, header, payload);
  last_.begin(frame, header, payload.size());
  joined_.resize(joined_.size() + bytes);
}

void ring_sender::post(buffer message) noexcept {
  const std::scoped_lock guard(lock_);
  if (joined_ && joined_.size() != 0) enqueue_joined();
  enqueue(std::move(message));
}

void ring_sender::send(buffer message, std::uint64_t run) noexcept {
  post(std::move(message));
  static_cast<void>(advance(run));
}

// Requires: lock_.
void ring_sender::set_unfinished(bool unfinished) noexcept {
  if (unfinished_.load(base::relaxed) == unfinished) return;
  unfinished_.store(unfinished, base::relaxed);
  unfinished_senders_.fetch_add(unfinished ? 1 : -1, base::relaxed);
}

// Requires: lock_.
void ring_sender::enqueue(buffer message) noexcept {
  queued_.fetch_add(message.size(), base::relaxed);
  set_unfinished(true);
  waiting_.push_back(dest_, std::move(message));
}

// Requires: lock_.
void ring_sender::enqueue_joined() noexcept {
  last_.end();
  enqueue(std::exchange(joined_, buffer{}));
  if (std::exchange(joined_counted_, false)) queued_.fetch_sub(1, base::relaxed);
}

// Writes the joined frames as one record, and returns whether there was room.
// Requires: lock_; no message waits; there are such frames.
bool ring_sender::write_joined(std::uint64_t run) noexcept {
  const std::size_t size = joined_.size();
  const std::uint64_t offset = reserve(size);
  if (offset == ring_producer::no_room) return false;
  last_.end();
  std::memcpy(bytes_ + offset + sizeof(record_word), joined_.data(), size);
  publish(offset, record_kind::frames, size, run);
  joined_.resize(0);
  if (std::exchange(joined_counted_, false)) queued_.fetch_sub(1, base::relaxed);
  return true;
}

// Writes the next record of the current message. Returns the bytes of its record, or 0 if there is
// no room for it. Requires: lock_.
std::uint64_t ring_sender::write_part(std::uint64_t run) noexcept {
  const std::uint64_t size = current_.size();
  const bool whole = size <= longest_content;
  const bool first = begun_ == 0;
  const std::size_t prefix = first && !whole ? sizeof size : 0;
  const std::size_t part = std::min<std::size_t>(size - begun_, longest_content - prefix);
  const std::uint64_t offset = reserve(prefix + part);
  if (offset == ring_producer::no_room) return 0;
  std::byte* const to = bytes_ + offset + sizeof(record_word);
  std::memcpy(to, &size, prefix);
  std::memcpy(to + prefix, current_.data() + begun_, part);
  const record_kind several = first ? record_kind::begin : record_kind::more;
  publish(offset, whole ? record_kind::message : several, prefix + part, run);
  begun_ += part;
  return record_bytes(prefix + part);
}

bool ring_sender::advance(std::uint64_t run) noexcept {
  if (!unfinished_.load(base::relaxed)) return false;
  std::uint64_t written = 0;
  {
    const std::scoped_lock guard(lock_);
    bool room = true;
    while (room && written < most_bytes && (current_ || !waiting_.empty())) {
      if (!current_) {
        current_ = waiting_.pop_front();
        begun_ = 0;
      }
      const std::uint64_t bytes = write_part(run);
      written += bytes;
      room = bytes != 0;
      if (room && begun_ == current_.size()) {
        queued_.fetch_sub(current_.size(), base::relaxed);
        current_ = buffer{};
      }
    }
    const bool messages = current_ || !waiting_.empty();
    bool frames = joined_ && joined_.size() != 0;
    if (frames && !messages) {
      const std::uint64_t bytes = record_bytes(joined_.size());
      frames = !write_joined(run);
      if (!frames) written += bytes;
    }
    if (!messages && !frames) set_unfinished(false);
  }
  if (written != 0) to_.wake_owner();
  return written != 0;
}

bool ring_sender::drained() noexcept {
  const std::scoped_lock guard(lock_);
  if (unfinished_.load(base::relaxed)) return false;
  if (!ring_.look()) refuse();
  return ring_.drained();
}

frame_counts ring_sender::written(std::uint64_t run) noexcept {
  const std::scoped_lock guard(lock_);
  return counts_of(run);
}

}  // namespace apgas::inline v0::comm
