// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory segments that ranks can map from each other, an optional capability of a transport. A rank
// allocates a segment and sends its key to other ranks in messages of its own. A rank that has the
// key attaches the segment and then accesses it with loads and stores.
//
// Callers: place_memory in module places. Implementations: in the local transport, whose ranks
// share one process, and in ucx.

#include <cstddef>
#include <memory>
#include <span>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// A segment of this rank's memory, which exists as long as this object. Ranks that have attached it
// read and write it without any action of this rank.
class shared_segment {
 public:
  shared_segment() = default;
  shared_segment(const shared_segment&) = delete;
  shared_segment& operator=(const shared_segment&) = delete;
  virtual ~shared_segment() = default;

  // The memory: at least the requested size, zero-initialised, aligned to 4096 bytes.
  virtual std::span<std::byte> memory() noexcept = 0;
  // The key that another rank needs to attach the segment; at most max_key_bytes.
  virtual std::span<const std::byte> key() const noexcept = 0;
};

inline constexpr std::size_t max_key_bytes = 4096;

// A segment of another rank that is mapped into this process. Destroying the object unmaps it.
class attached_segment {
 public:
  attached_segment() = default;
  attached_segment(const attached_segment&) = delete;
  attached_segment& operator=(const attached_segment&) = delete;
  virtual ~attached_segment() = default;

  // The address of the segment in this process.
  virtual std::byte* memory() noexcept = 0;
};

class remote_memory {
 public:
  // Allocates a segment of at least `bytes` bytes.
  // Throws: std::bad_alloc.
  // Context: any thread; may wait for a thread that is inside the network library.
  virtual std::unique_ptr<shared_segment> make_segment(std::size_t bytes) = 0;
  // Maps a segment of `home`, or returns null if this rank cannot map it, because it is on another
  // host.
  // Throws: std::bad_alloc.
  // Context: as make_segment.
  virtual std::unique_ptr<attached_segment> attach(rank home, std::span<const std::byte> key) = 0;

 protected:
  ~remote_memory() = default;
};

// A segment of ordinary memory, whose key is valid only within this process.
// Throws: std::bad_alloc.
std::unique_ptr<shared_segment> make_private_segment(std::size_t bytes);
std::unique_ptr<attached_segment> attach_private_segment(std::span<const std::byte> key);

}  // namespace apgas::inline v0::comm
