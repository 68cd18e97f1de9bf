// SPDX-License-Identifier: Apache-2.0
#pragma once

// The positions of a ring of bytes in memory that two processes share. One thread at a time writes
// records, one thread at a time reads them. The classes here only divide the ring between the two;
// their users copy the bytes.
//
//   read  ≤  positions of the records that can be read  <  written
//
// Positions grow for ever; the offset of a position in the ring is its remainder by the capacity, a
// power of two. A record lies in one piece: the last one of a lap may extend beyond the capacity,
// so the memory of a ring has more bytes than its capacity, by at least the longest record. Such a
// record still takes the positions of its length, so the first bytes of the next lap stay unused.
//
//                 written by     read by
//   written       the producer   the consumer
//   copy          the producer   the consumer
//   read          the consumer   the producer
//
// A cache line that one side writes and the other one reads moves between their cores, which takes
// longer than hundreds of instructions. For a record that comes alone these are the lines of the
// record and that of `written`, and no other; for a short one only that of `written`, and its
// neighbour if the record is longer than a line:
//   - The producer also writes the words of a short record that comes alone beside the position, in
//     the same line (`copy`). A consumer that finds this record alone reads them there, and no line
//     of the ring. If the producer has gone on meanwhile, it reads the record in the ring.
//   - The producer reads `read` only when the ring looks full. So its line stays with the consumer,
//     which writes it when it has found several records, or when it looks and finds none: not
//     between a record and its answer.
//   - The consumer reads `written` once for all records that it finds.
//   - Each position lies in a pair of lines of its own, because processors fetch the neighbour of a
//     line together with it.
//
// Invariants
//   I1  written - read is at most the capacity, so a record never overwrites one that has not been
//       read. That includes the bytes beyond the capacity, which only the last record of a lap
//       uses: it ends more than a capacity after the beginning of the last record of the lap
//       before.
//   I2  While the copy changes, `written` does not say that there is one. Its value with a copy
//       never returns, as positions grow. So a consumer that reads the same value before and after
//       the copy has read a whole copy, of the last record before that position.
//   I3  Each side uses its own position from its own memory. What the other process writes into the
//       shared position is checked before it is used, and an impossible value is reported.
// Pairs
//   P1  A consumer that sees `written` sees the bytes of all records before it.
//   P2  A producer that sees `read` may overwrite the records before it: the consumer has finished
//       reading them.
//   P3  A consumer that reads a word of a later copy sees that the position has changed.
//
// Model: tests/model/ring_model.cpp. Source: Lamport, "Proving the correctness of multiprocess
// programs", 1977; the private copies of positions are those of FastForward and MCRingBuffer; the
// copy is read as by a sequence lock (Boehm, "Can seqlocks get along with programming language
// memory models?", 2012).

#include <cstddef>
#include <cstdint>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::comm {

// How many words of a record, without its first one, fit beside the position. The first seven are
// in the same line, and the others in its neighbour.
inline constexpr std::size_t copied_words = 15;

// Positions are multiples of 8. The other bits of `written` are 0, or 1 and the tag of the record
// of which there is a copy.
struct ring_positions {
  alignas(128) base::atomic<std::uint64_t> written{0};
  base::atomic<std::uint64_t> copy[copied_words];
  alignas(128) base::atomic<std::uint64_t> read{0};
};

class ring_producer {
 public:
  static constexpr std::uint64_t no_room = UINT64_MAX;
  static constexpr std::uint64_t impossible = UINT64_MAX - 1;

  ring_producer() noexcept = default;
  // Requires: the ring is empty and has not been used.
  ring_producer(ring_positions& shared, std::uint64_t capacity) noexcept
      : shared_(&shared), mask_(capacity - 1) {}

  // The offset at which a record of `bytes` bytes may be written; no_room if the ring is full, and
  // impossible if the consumer has written a position that cannot be.
  std::uint64_t reserve(std::uint64_t bytes) noexcept {
    const std::uint64_t end = at_ + bytes;
    if (end - read_ > mask_ + 1) {
      if (!look()) return impossible;
      if (end - read_ > mask_ + 1) return no_room;
    }
    return at_ & mask_;
  }
  // The offset at which the next record begins, if there is room for it.
  std::uint64_t offset() const noexcept { return at_ & mask_; }
  // Makes the record of `bytes` bytes at the last reserved offset visible to the consumer.
  void publish(std::uint64_t bytes) noexcept {
    at_ += bytes;
    shared_->written.store(at_, base::release);  // P1
  }
  // The same, with a copy of the record without its first word: `words` points to the second one.
  // `tag` is a number from 0 to 3. Requires: these are at most copied_words.
  void publish_with_copy(std::uint64_t bytes, const std::uint64_t* words, unsigned tag) noexcept {
    // No consumer trusts the copy from now on (I2).
    shared_->written.store(at_, base::release);  // P1
    for (std::size_t i = 0; i < bytes / 8 - 1; ++i) {
      shared_->copy[i].store(words[i], base::release);  // P3
    }
    at_ += bytes;
    shared_->written.store(at_ | tag << 1U | 1U, base::release);  // P1
  }
  // Checks which records the consumer has read. Returns false if it has written an impossible
  // position.
  bool look() noexcept {
    const std::uint64_t read = shared_->read.load(base::acquire);  // P2
    if (at_ - read > at_ - read_) return false;
    read_ = read;
    return true;
  }
  // Whether the last look() found that all records have been read.
  bool drained() const noexcept { return read_ == at_; }

 private:
  ring_positions* shared_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t at_ = 0;    // the next record
  std::uint64_t read_ = 0;  // as last seen
};

class ring_consumer {
 public:
  ring_consumer() noexcept = default;
  // Requires: as ring_producer.
  ring_consumer(ring_positions& shared, std::uint64_t capacity) noexcept
      : shared_(&shared), mask_(capacity - 1) {}

  // Looks for records. If there are none, it releases those that have been passed. Returns false if
  // the producer has written a position that cannot be.
  bool look() noexcept {
    seen_ = shared_->written.load(base::acquire);  // P1
    const std::uint64_t written = seen_ & ~std::uint64_t{7};
    if (written - at_ > mask_ + 1 || written - at_ < end_ - at_) return false;
    end_ = written;
    if (empty() && released_ != at_) release();
    return true;
  }
  // Whether the last look() found nothing beyond the records that have been passed.
  bool empty() const noexcept { return at_ == end_; }
  // The offset of the next record. Requires: !empty().
  std::uint64_t offset() const noexcept { return at_ & mask_; }
  // The bytes of the records that the last look() found and that have not been passed.
  std::uint64_t left() const noexcept { return end_ - at_; }
  // Whether a record of `bytes` bytes at offset() lies within what was found.
  bool holds(std::uint64_t bytes) const noexcept { return bytes <= end_ - at_; }
  // Whether there is a copy, with that tag, of the last record that look() found.
  bool has_copy(unsigned tag) const noexcept { return (seen_ & 7U) == (tag << 1U | 1U); }
  // Reads the copy of a record of `bytes` bytes. Returns false if the words may be of a later
  // record. Requires: has_copy().
  bool read_copy(std::uint64_t bytes, std::uint64_t* words) const noexcept {
    for (std::size_t i = 0; i < bytes / 8 - 1; ++i) {
      words[i] = shared_->copy[i].load(base::acquire);  // P3
    }
    return shared_->written.load(base::relaxed) == seen_;
  }
  // Goes to the next record. Requires: holds(bytes).
  void pass(std::uint64_t bytes) noexcept { at_ += bytes; }
  // Returns the space of the passed records to the producer.
  void release() noexcept {
    released_ = at_;
    shared_->read.store(at_, base::release);  // P2
  }

 private:
  ring_positions* shared_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t at_ = 0;        // the next record
  std::uint64_t seen_ = 0;      // `written`, as last seen
  std::uint64_t end_ = 0;       // its position
  std::uint64_t released_ = 0;  // `read`, as last written
};

}  // namespace apgas::inline v0::comm
