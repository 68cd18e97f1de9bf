// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

// Decides how many tasks a runner of glb_place.hpp processes before it looks for steal requests: a
// number that takes about 100 us. A waiting place then loses about as much time as a message and
// its reply take, and looking costs less than 0.1 %.
namespace apgas::inline v0::remote {

class glb_pace {
 public:
  // `fixed` is the number of tasks, or 0 to adapt it.
  explicit glb_pace(std::size_t fixed) noexcept
      : fixed_(fixed != 0), chunk_(fixed_ ? fixed : first) {}

  std::size_t chunk() const noexcept { return chunk_; }

  // Called before and after process(chunk()).
  void begin() noexcept {
    if (!fixed_) began_ = clock::now();
  }
  void end() noexcept {
    if (fixed_) return;
    const auto took = clock::now() - began_;
    if (took < shortest) chunk_ = std::min(chunk_ * 2, most);
    if (took > longest) chunk_ = std::max(chunk_ / 2, std::size_t{1});
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t first = 16;
  static constexpr std::size_t most = std::size_t{1} << 24;
  static constexpr std::chrono::microseconds shortest{70};
  static constexpr std::chrono::microseconds longest{200};

  bool fixed_;
  std::size_t chunk_;
  clock::time_point began_;
};

}  // namespace apgas::inline v0::remote
