// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <apgas/base/descriptor.hpp>

namespace apgas::inline v0::launch {

// Returns a socket that accepts connections at `where`: a port of the loopback interface, or a
// numeric address and a port, such as 0.0.0.0:9100 or [::]:9100.
// Throws: launch_error if that is not possible; it names the setting APGAS_METRICS.
base::descriptor listen_at(const std::string& where);

}  // namespace apgas::inline v0::launch
