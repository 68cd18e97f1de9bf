// SPDX-License-Identifier: Apache-2.0
#pragma once

// Segments that UCX allocates so that other ranks of the host can map them and access them with
// loads and stores. A segment that cannot be mapped is not attached; its memory is accessed by
// messages. Used under the network lock, like ucx_wire.

#include <memory>

#include <ucp/api/ucp.h>

#include <apgas/comm/remote_memory.hpp>

namespace apgas::inline v0::comm {

std::unique_ptr<shared_segment> make_ucx_segment(ucp_context_h context, std::size_t bytes);
// Returns null if the segment cannot be mapped.
std::unique_ptr<attached_segment> attach_ucx_segment(ucp_ep_h home, std::span<const std::byte> key);

}  // namespace apgas::inline v0::comm
