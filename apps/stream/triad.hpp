// SPDX-License-Identifier: Apache-2.0
#pragma once

// The triad of the STREAM benchmark (J. McCalpin): a = b + s * c for vectors, within a place.

#include <cstdint>

#include "support/loop_form.hpp"

namespace stream {

struct triad_outcome {
  double seconds = 0;
  std::int64_t wrong = 0;  // elements, in all rounds
};

// Context: task; may suspend.
triad_outcome compute_triad(apps::loop_form& form, std::int64_t words, int rounds);

}  // namespace stream
