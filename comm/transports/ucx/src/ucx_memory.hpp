// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that UCX allocates so that the other ranks of a node can map it: then an access is a load
// or a store. What cannot be mapped is not attached, and is reached by messages. Used under the
// network lock, as ucx_wire is.

#include <memory>

#include <ucp/api/ucp.h>

#include <apgas/comm/remote_memory.hpp>

namespace apgas::inline v0::comm {

std::unique_ptr<shared_segment> make_ucx_segment(ucp_context_h context, std::size_t bytes);
// Null: it cannot be mapped.
std::unique_ptr<attached_segment> attach_ucx_segment(ucp_ep_h home, std::span<const std::byte> key);

}  // namespace apgas::inline v0::comm
