// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an endpoint keeps for each rank.

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>

namespace apgas::inline v0::comm {

struct alignas(64) endpoint::channel {
  base::spin_lock lock;
  std::uint32_t frames = 0;  // in `gathered`
  buffer gathered;
  clock::time_point oldest;     // of the gathered frames
  clock::time_point last_post;  // when the last message left
  traffic sent;                 // and received
};

}  // namespace apgas::inline v0::comm
