// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The seam through which a seeded schedule (APGAS_SEED) decides what happens next where several
// things may happen, such as which message is delivered first. Without a seed there is no such
// object, and the code does what is fastest.
namespace apgas::inline v0::base {

class choice_source {
 public:
  choice_source() = default;
  choice_source(const choice_source&) = delete;
  choice_source& operator=(const choice_source&) = delete;

  // Returns a number in [0, bound) that depends only on the seed and on the decisions before. If
  // the calling thread takes no part in the schedule, or the schedule has ended, returns 0.
  // Requires: bound > 0. Context: any thread.
  virtual std::uint32_t below(std::uint32_t bound) noexcept = 0;

 protected:
  ~choice_source() = default;
};

}  // namespace apgas::inline v0::base
