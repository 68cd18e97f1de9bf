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
class shared_region {
 public:
  shared_region() = default;
  shared_region(const shared_region&) = delete;
  shared_region& operator=(const shared_region&) = delete;
  virtual ~shared_region() = default;

  // At least as long as asked for, all zero when it was made, aligned to 4096.
  virtual std::span<std::byte> memory() noexcept = 0;
  // What another rank needs to attach it; at most max_key_bytes.
  virtual std::span<const std::byte> key() const noexcept = 0;
};

inline constexpr std::size_t max_key_bytes = 4096;

// A region of another rank as this one reaches it.
class attached_region {
 public:
  attached_region() = default;
  attached_region(const attached_region&) = delete;
  attached_region& operator=(const attached_region&) = delete;
  virtual ~attached_region() = default;

  // Where its memory lies in this process.
  virtual std::byte* memory() noexcept = 0;
};

class remote_memory {
 public:
  // Context of both: any thread. May wait for a thread that is in the network.
  // Throws: std::bad_alloc.
  virtual std::unique_ptr<shared_region> make_region(std::size_t bytes) = 0;
  // Null where this rank cannot reach such memory of `home`: it lies on another node.
  virtual std::unique_ptr<attached_region> attach(rank home, std::span<const std::byte> key) = 0;

 protected:
  ~remote_memory() = default;
};

// A region that is plain memory, with a key that means something in this process only.
// Throws: std::bad_alloc.
std::unique_ptr<shared_region> make_private_region(std::size_t bytes);
std::unique_ptr<attached_region> attach_private_region(std::span<const std::byte> key);

}  // namespace apgas::inline v0::comm
