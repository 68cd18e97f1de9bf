// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Frames of kind finish: `handler` says which, `finish` of which, `credit` the share of a grant or
// how many ties a return or release brings back.
namespace apgas::inline v0::sync {

enum operation : std::uint64_t {
  operation_return = 1,  // payload: returned_credit, then results, of each place that has any
  operation_request,     // no payload
  operation_grant,       // no payload
  operation_release,     // no payload
};

}  // namespace apgas::inline v0::sync
