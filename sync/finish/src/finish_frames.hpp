// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The operations of frames of kind finish. Such a frame has the operation in `handler` and names
// the finish in `finish`. `credit` is the share of a grant, or the number of links that a return or
// a release releases.
namespace apgas::inline v0::sync {

enum operation : std::uint64_t {
  operation_return = 1,  // payload: a returned_credit, then the results of each place that has any
  operation_request,     // no payload
  operation_grant,       // no payload
  operation_release,     // no payload
};

}  // namespace apgas::inline v0::sync
