// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// "0-3,8" of ascending ranks.
std::string rank_ranges(const std::vector<rank>& ranks);

}  // namespace apgas::inline v0::comm
