// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Memory for archives and long messages, kept when it is given back. To an allocator, aligned
// memory is dear; and it returns what is long to the system, so that each page of a new message
// would be a fault: more than to copy what it holds.
//
// One for the process: what an archive grows in, here, becomes a message of some transport.
namespace apgas::inline v0::comm {

// What a block for so many bytes takes: up to a quarter more, so that few sizes are in use. Such
// blocks are kept; above 8 MiB none is, and none takes more.
std::size_t cached_block_bytes(std::size_t bytes) noexcept;

// Memory of cached_block_bytes(), aligned for inbound_buffer, and its way back.
// Throws: std::bad_alloc. Context: any thread. Cost: one short lock where one is kept.
void* take_cached_block(std::size_t bytes);
void cache_block(void* block, std::size_t bytes) noexcept;

// How much is kept (tests).
std::size_t bytes_kept() noexcept;
inline constexpr std::size_t kept_bytes_max = std::size_t{32} << 20;

}  // namespace apgas::inline v0::comm
