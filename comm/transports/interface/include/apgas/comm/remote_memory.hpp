// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that ranks can reach in each other: what a transport may offer beside messages. A rank
// makes a region and hands its key on in messages of its own; who has the key attaches the region.
//
// Who calls it: place_memory of module places. Implementations: of the local transport, where all
// ranks are in one process, and of ucx.

#include <cstddef>
#include <memory>
#include <span>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// Memory of this rank, there as long as this object. Where others read and write it meanwhile, they
// do so without a word to this rank.
class shared_segment {
 public:
  shared_segment() = default;
  shared_segment(const shared_segment&) = delete;
  shared_segment& operator=(const shared_segment&) = delete;
  virtual ~shared_segment() = default;

  // At least as long as asked for, all zero when it was made, aligned to 4096.
  virtual std::span<std::byte> memory() noexcept = 0;
  // What another rank needs to attach it; at most max_key_bytes.
  virtual std::span<const std::byte> key() const noexcept = 0;
};

inline constexpr std::size_t max_key_bytes = 4096;

// A region of another rank as this one reaches it.
class attached_segment {
 public:
  attached_segment() = default;
  attached_segment(const attached_segment&) = delete;
  attached_segment& operator=(const attached_segment&) = delete;
  virtual ~attached_segment() = default;

  // Where its memory lies in this process.
  virtual std::byte* memory() noexcept = 0;
};

class remote_memory {
 public:
  // Context of both: any thread. May wait for a thread that is in the network.
  // Throws: std::bad_alloc.
  virtual std::unique_ptr<shared_segment> make_segment(std::size_t bytes) = 0;
  // Null where this rank cannot reach such memory of `home`: it lies on another node.
  virtual std::unique_ptr<attached_segment> attach(rank home, std::span<const std::byte> key) = 0;

 protected:
  ~remote_memory() = default;
};

// A region that is plain memory, with a key that means something in this process only.
// Throws: std::bad_alloc.
std::unique_ptr<shared_segment> make_private_segment(std::size_t bytes);
std::unique_ptr<attached_segment> attach_private_segment(std::span<const std::byte> key);

}  // namespace apgas::inline v0::comm
