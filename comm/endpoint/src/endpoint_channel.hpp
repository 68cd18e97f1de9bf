// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of an endpoint for one peer.

#include <cstdint>
#include <cstring>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/task_list.hpp>

namespace apgas::inline v0::comm {

// Adds without a read-modify-write, since there is one writer at a time.
inline void add(base::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
  counter.store(counter.load(base::relaxed) + more, base::relaxed);
}

// Frames are written to `staged` and moved to the message a kilobyte at a time. The buffer of the
// message was last used by another core, and releasing the channel's lock ends the overlap of its
// stores. If every frame were written to the message directly, each cache line would wait for that
// core.
struct alignas(64) endpoint::channel {
  // Small frames are written; constant once the endpoint is ready. And whether send() does so: not
  // while frames are observed.
  bool may_write = false;
  base::atomic<bool> writes_frames{false};

  // Used by the holder of the lock, `last` in part also by others.
  base::spin_lock lock;
  std::uint32_t frames = 0;  // in the batch: first in `message`, then in `staged`
  std::uint32_t added = 0;   // tasks that add_task() has added
  std::size_t staged_bytes = 0;
  buffer message;
  clock::time_point oldest;  // when the oldest frame of the batch was added
  traffic sent;              // only the fields about sending
  growing_frame last;        // the last one of `staged`
  alignas(64) std::byte staged[1024];

  // When the last message was sent. Written after the lock is released, so that it does not delay
  // the message.
  alignas(64) base::atomic<clock::time_point> last_post{};

  // Used by the thread inside progress().
  struct received_frames {
    base::atomic<std::uint64_t> frames{0};
    base::atomic<std::uint64_t> bytes{0};  // with their headers

    void add(std::uint64_t size) noexcept {
      comm::add(frames, 1);
      comm::add(bytes, size);
    }
  };
  alignas(64) received_frames received[frame_kinds];  // by frame_kind
  base::atomic<std::uint64_t> messages_received{0};
  const handler_entry* handler = nullptr;  // of the last frame of tasks

  std::size_t bytes() const noexcept { return staged_bytes + (message ? message.size() : 0); }

  // Moves the staged frames to the message.
  // Requires: the message has room for them.
  void unstage() noexcept {
    last.end();
    const std::size_t end = message.size();
    std::memcpy(message.data() + end, staged, staged_bytes);
    message.resize(end + staged_bytes);
    staged_bytes = 0;
  }

  void count_message(std::uint32_t frames_in_it, std::size_t size, flush_reason reason) noexcept {
    sent.frames_sent += frames_in_it;
    sent.messages_sent += 1;
    sent.bytes_sent += size;
    sent.flushes[static_cast<std::size_t>(reason)] += 1;
  }
};

}  // namespace apgas::inline v0::comm
