// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// A cache of memory blocks for archives and long messages. Allocators handle aligned memory slowly
// and return large blocks to the system, so that every page of the next message would cause a page
// fault, which costs more than copying its contents.
//
// There is one cache for the process, because the block in which an archive grows becomes a message
// of some transport.
namespace apgas::inline v0::comm {

// The size of the block that holds `bytes` bytes: up to a quarter more, so that there are few
// different sizes. Above 8 MiB blocks are not cached, and the size is `bytes` itself.
std::size_t cached_block_bytes(std::size_t bytes) noexcept;

// Allocates and frees a block whose size was returned by cached_block_bytes(), aligned for
// inbound_buffer.
// Throws: std::bad_alloc.
// Context: any thread.
// Cost: one short lock if the cache has a block of that size.
void* take_cached_block(std::size_t bytes);
void cache_block(void* block, std::size_t bytes) noexcept;

// The number of bytes in the cache (for tests) and its upper limit.
std::size_t bytes_kept() noexcept;
inline constexpr std::size_t kept_bytes_max = std::size_t{32} << 20;

}  // namespace apgas::inline v0::comm
