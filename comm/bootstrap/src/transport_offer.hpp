// SPDX-License-Identifier: Apache-2.0
#pragma once

// What ranks tell each other before any of them makes a transport, and what they then choose: the
// same everywhere, since all see the same offers.

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <apgas/base/settings.hpp>

namespace apgas::inline v0::comm {

// Wire: the first thing that ranks exchange, by MPI. Keeps its size in all versions.
struct transport_offer {
  char magic[8] = {'a', 'p', 'g', 'a', 's', 't', 0, 0};
  std::int32_t wanted = 0;  // a base::transport_choice
  std::int32_t usable = 0;  // UCX; where mpi is wanted it was not tried
  char host[256] = {};
  char why_not[240] = {};  // of UCX
};
static_assert(sizeof(transport_offer) == 512 && std::is_trivially_copyable_v<transport_offer>);

// This rank's. `why_not`: why UCX cannot be used here; empty: it can.
transport_offer make_transport_offer(base::transport_choice wanted, const std::string& why_not);

struct agreed_transport {
  bool ucx;
  std::string why;  // as in chosen_transport
};

// Of all ranks.
std::vector<std::string> hosts_of(std::span<const transport_offer> all);

// `all`: by rank. Throws: as choose_transport.
agreed_transport agree_on_transport(std::span<const transport_offer> all);

}  // namespace apgas::inline v0::comm
