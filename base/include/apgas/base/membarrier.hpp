// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/api.hpp>

// The system call behind the heavy side of the asymmetric fence of atomic.hpp: Linux membarrier(2)
// in its private expedited form. The models do not check it; that it works is trusted to the
// kernel.

namespace apgas::inline v0::base {

// Returns whether this process may use the barrier; the seccomp filter of a container may forbid
// it. The first call registers the process with the kernel. Context: any thread.
bool membarrier_available() noexcept;

// Makes every running thread of this process execute a full fence before the call returns. Threads
// that wait for a barrier in progress share the next one (shared_barrier.hpp). Without
// membarrier_available() it is a full fence of the calling thread alone.
// Context: any thread. Cost: 0.15 us if no other thread of the process is running, 2 us if one is.
APGAS_API void membarrier() noexcept;

}  // namespace apgas::inline v0::base
