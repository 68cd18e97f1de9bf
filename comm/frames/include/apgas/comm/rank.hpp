// SPDX-License-Identifier: Apache-2.0
#pragma once

// The number of a process in the job, or of a place inside one process: 0 to size - 1. All modules
// below `places` use ranks instead of places.

namespace apgas::inline v0::comm {

using rank = int;

}  // namespace apgas::inline v0::comm
