// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace apps {

// What is wrong with an input that needs at least so many bytes at one place: "needs about 71 GiB
// of memory, and this machine has 24 GiB". Empty if they fit into the memory of this host. Without
// this check the system, which promises more memory than it has, would kill the program later.
[[nodiscard]] std::string beyond_memory(double bytes);

}  // namespace apps
