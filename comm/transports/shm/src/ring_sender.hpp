// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sending side of a ring: from this place to another place of its host. What does not fit into
// the ring waits here, in order, and advance() writes it when the receiver has made room.
//
// A frame that comes alone is written to the ring at once. Frames that follow each other within
// burst_cycles are joined to one record, which is written when it has burst_bytes, or by the next
// advance(). So whoever writes a frame must see to it that advance() is called soon. If each frame
// were written at once, both sides would wait for the lines of the ring, which move between their
// caches one by one.
//
//   lock_          protects all members but the following
//   unfinished_    written by the holder of the lock, read by any thread
//   last_          in part, as growing_frame says

#include <cstddef>
#include <cstdint>
#include <span>

#include <apgas/base/atomic.hpp>
#include <apgas/base/biased_lock.hpp>
#include <apgas/comm/message.hpp>
#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/task_list.hpp>
#include <apgas/comm/transport.hpp>

#include "host_segment.hpp"
#include "ring_record.hpp"

namespace apgas::inline v0::comm {

class ring_sender {
 public:
  // `to` is the segment of rank `dest`, and `index` the index of this place on its host. The bytes
  // that wait are counted in `queued`, and the senders with unfinished work in `unfinished`.
  ring_sender(mapped_segment to, rank dest, std::size_t index, std::size_t places,
              buffer_pool& pool, base::lock_owner& owner, base::atomic<std::size_t>& queued,
              base::atomic<int>& unfinished) noexcept;

  // Sends one frame. Ends the job if there is no memory for it.
  // Context: any thread.
  // Cost: one short lock and a copy; for each record a full fence, and a copy of joined frames.
  void write(const frame_header& header, std::span<const std::byte> payload,
             std::uint64_t run) noexcept;
  // Adds a task to the last frame that write() has joined, as transport::add_task().
  // Context: any thread.
  // Cost: one short lock and a copy; nothing but a load if that frame is of another task.
  bool add_task(const frame_header& header, std::span<const std::byte> payload, std::uint64_t run,
                base::atomic<std::uint64_t>& bytes) noexcept;
  // Queues a message for the next advance(); send() is both in one call.
  // Context: any thread.
  void post(buffer message) noexcept;
  void send(buffer message, std::uint64_t run) noexcept;
  // Writes what waits, as far as there is room, and at most about most_bytes. Returns whether it
  // wrote anything.
  // Context: any thread.
  // Cost: one load if there is nothing.
  bool advance(std::uint64_t run) noexcept;
  // Whether the receiver has taken everything.
  // Context: any thread.
  bool drained() noexcept;

  // What write() has sent in a run.
  // Context: any thread.
  frame_counts written(std::uint64_t run) noexcept;

 private:
  static constexpr std::uint64_t burst_cycles = 600;  // between two frames, on average
  static constexpr std::uint32_t frames_per_clock_read = 16;
  // At most about the capacity of a ring, so that the lock is not held for a whole long message.
  static constexpr std::uint64_t most_bytes = std::uint64_t{256} << 10;
  static constexpr std::size_t burst_bytes = 4096;

  frame_counts& counts_of(std::uint64_t run) noexcept;
  std::uint64_t reserve(std::size_t length) noexcept;
  [[noreturn]] void refuse() const noexcept;
  bool message_waits() const noexcept { return current_ || !waiting_.empty(); }
  void fetch_lines() const noexcept;
  void write_word(std::uint64_t offset, record_kind kind, std::size_t length,
                  std::uint64_t run) noexcept;
  void publish(std::uint64_t offset, record_kind kind, std::size_t length,
               std::uint64_t run) noexcept;
  void after_record() noexcept;
  void announce() noexcept;
  void set_unfinished(bool unfinished) noexcept;
  void enqueue(buffer message) noexcept;
  void enqueue_joined() noexcept;
  void look_for_burst(bool first) noexcept;
  bool write_single(const frame_header& header, std::span<const std::byte> payload,
                    std::uint64_t run) noexcept;
  bool write_after_others(const frame_header& header, std::span<const std::byte> payload,
                          std::uint64_t run) noexcept;
  void join(const frame_header& header, std::span<const std::byte> payload) noexcept;
  bool write_if_due(std::uint64_t run) noexcept;
  bool write_joined(std::uint64_t run) noexcept;
  std::uint64_t write_part(std::uint64_t run) noexcept;

  base::biased_lock lock_;
  const rank dest_;
  const mapped_segment to_;
  const std::size_t index_;
  buffer_pool& pool_;
  base::atomic<std::size_t>& queued_;
  base::atomic<int>& unfinished_senders_;
  ring_producer ring_;
  std::byte* const bytes_;
  bool announced_ = false;  // the receiver knows that this ring is in use
  frame_counts written_;    // in the run counted_run_
  std::uint64_t counted_run_ = 0;
  std::uint64_t last_clock_ = 0;          // when the clock was read, in cycles
  std::uint32_t since_clock_ = 0;         // frames since then
  bool burst_ = false;                    // frames followed each other quickly when it was read
  base::atomic<bool> unfinished_{false};  // advance() has something to do

  // What waits, in this order.
  buffer current_;         // is being written
  std::size_t begun_ = 0;  // how many bytes of it were written
  message_chain waiting_;
  buffer joined_;                // frames
  bool joined_counted_ = false;  // as one byte in queued_, so that this place goes on polling
  growing_frame last_;           // the last one of joined_
};

}  // namespace apgas::inline v0::comm
