// SPDX-License-Identifier: Apache-2.0
#pragma once

// The number of a process (or of a place of one process) in the job: 0 to size-1. Below the module
// places everything speaks ranks.

namespace apgas::inline v0::comm {

using rank = int;

}  // namespace apgas::inline v0::comm
