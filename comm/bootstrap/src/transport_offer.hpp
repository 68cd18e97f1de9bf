// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exchange of settings and capabilities before a transport exists, and the choice that follows
// from it. The choice is the same at every rank, since all see the same offers.

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <apgas/base/settings.hpp>

namespace apgas::inline v0::comm {

// The settings and capabilities of one rank.
// Wire: the first record that ranks exchange, over MPI. Its size is the same in all versions.
struct transport_offer {
  char magic[8] = {'a', 'p', 'g', 'a', 's', 't', 0, 0};
  std::int32_t wanted = 0;  // a base::transport_choice
  std::int32_t usable = 0;  // whether UCX can be used; not tested if mpi is wanted
  char host[256] = {};
  char why_not[240] = {};  // the reason if UCX cannot be used
};
static_assert(sizeof(transport_offer) == 512 && std::is_trivially_copyable_v<transport_offer>);

// The offer of this rank. `why_not` is the reason why UCX cannot be used here; empty if it can.
transport_offer make_transport_offer(base::transport_choice wanted, const std::string& why_not);

struct agreed_transport {
  bool ucx;
  std::string why;  // the reason, as in chosen_transport
};

// The host names of all ranks.
std::vector<std::string> hosts_of(std::span<const transport_offer> all);

// Chooses a transport from the offers of all ranks, in the order of ranks.
// Throws: as choose_transport().
agreed_transport agree_on_transport(std::span<const transport_offer> all);

}  // namespace apgas::inline v0::comm
