// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// Formats ascending ranks compactly: "0-3,8".
std::string rank_ranges(const std::vector<rank>& ranks);

}  // namespace apgas::inline v0::comm
