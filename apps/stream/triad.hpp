// SPDX-License-Identifier: Apache-2.0
#pragma once

// The triad of the STREAM benchmark (J. McCalpin): a = b + s * c for vectors, within a place.

#include <cstdint>
#include <span>

#include "support/loop_form.hpp"

namespace stream {

struct triad_outcome {
  double seconds = 0;
  std::int64_t wrong = 0;  // elements, in all rounds
};

// How many elements of a differ from those of the triad with this scalar. An element that is not a
// number differs.
std::int64_t wrong_elements(std::span<const double> a, double scalar);

// Context: task; may suspend.
triad_outcome compute_triad(apps::loop_form& form, std::int64_t words, int rounds);

}  // namespace stream
