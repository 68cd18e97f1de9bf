// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <apgas/base/atomic.hpp>

// The memory for the events of one thread: some chunks, used in turn. When all are full, the oldest
// chunk is overwritten. Each chunk can be understood without those before it.
//
//   words_   the owner writes, and other threads read what lies below used_ of a chunk
//
// Pairs
//   P1  A thread that reads used_ sees the events below it.
namespace apgas::inline v0::scheduler {

class event_ring {
 public:
  static constexpr std::size_t chunks = 16;

  // At first there is no room: the owner calls next_chunk() before its first event.
  // Throws: std::bad_alloc. The memory is only used as it is needed.
  explicit event_ring(std::size_t bytes);
  event_ring(const event_ring&) = delete;
  event_ring& operator=(const event_ring&) = delete;
  ~event_ring();

  // Returns memory for an event of `words` words; null if the current chunk has no room for it.
  // Then the owner calls next_chunk(), and describes in its first events what is open.
  std::uint64_t* room(std::size_t words) noexcept { return at_ + words <= end_ ? at_ : nullptr; }
  // The event at room() is complete.
  void commit(std::size_t words) noexcept {
    at_ += words;
    ++events_;
    used_[current_].store(static_cast<std::size_t>(at_ - begin_of(current_)), base::release);  // P1
  }
  void next_chunk() noexcept;

  std::uint64_t dropped() const noexcept { return dropped_.load(base::relaxed); }
  // Gives the memory back to the system. An owner that still writes an event may do so.
  void forget() noexcept;
  // The chunks with events, from the oldest on. Context: any thread; the owner may still write.
  std::size_t spans(std::span<const std::uint64_t> (&out)[chunks]) const noexcept;

 private:
  std::uint64_t* begin_of(std::size_t chunk) const noexcept { return words_ + chunk * per_chunk_; }

  std::uint64_t* at_ = nullptr;
  std::uint64_t* end_ = nullptr;
  std::uint64_t events_ = 0;  // in the current chunk
  std::size_t current_ = chunks - 1;
  std::uint64_t* words_ = nullptr;
  std::size_t per_chunk_ = 0;
  std::uint64_t events_in_[chunks] = {};
  base::atomic<std::size_t> oldest_{0};
  base::atomic<std::size_t> used_[chunks] = {};
  base::atomic<std::uint64_t> dropped_{0};
};

}  // namespace apgas::inline v0::scheduler
