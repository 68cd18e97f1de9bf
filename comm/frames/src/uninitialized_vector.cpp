// SPDX-License-Identifier: Apache-2.0
#include <apgas/uninitialized_vector.hpp>

#include <apgas/comm/buffer.hpp>

#include "block_cache.hpp"

namespace apgas::inline v0::comm::detail {

static_assert(recycled_alignment == alignof(inbound_buffer));

void* allocate_recycled(std::size_t bytes) { return take_cached_block(cached_block_bytes(bytes)); }

void free_recycled(void* memory, std::size_t bytes) noexcept {
  cache_block(memory, cached_block_bytes(bytes));
}

}  // namespace apgas::inline v0::comm::detail
