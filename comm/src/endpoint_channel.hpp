// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an endpoint keeps for each rank.

#include <cstdint>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>

namespace apgas::inline v0::comm {

struct alignas(64) endpoint::channel {
  // By the holder of the lock.
  base::spin_lock lock;
  std::uint32_t frames = 0;  // in `gathered`
  buffer gathered;
  clock::time_point oldest;  // of the gathered frames
  traffic sent;              // the halves of the sender only

  // When the last message left; after the lock, off the message's way.
  base::atomic<clock::time_point> last_post{};

  // By the thread in progress.
  alignas(64) base::atomic<std::uint64_t> frames_received{0};
  base::atomic<std::uint64_t> messages_received{0};
  base::atomic<std::uint64_t> bytes_received{0};
};

}  // namespace apgas::inline v0::comm
