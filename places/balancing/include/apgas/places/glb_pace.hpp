// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

// How many tasks of a bag to do before looking up: so many that it takes about 100 us, in which a
// place that waits loses as much as a message and its answer take, and a look costs below 0.1 %.
// Used by one runner of glb_place.hpp.
namespace apgas::inline v0::remote {

class glb_pace {
 public:
  // `fixed` is the number, or 0: to be found.
  explicit glb_pace(std::size_t fixed) noexcept
      : fixed_(fixed != 0), chunk_(fixed_ ? fixed : first) {}

  std::size_t chunk() const noexcept { return chunk_; }

  // Around process(chunk()).
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
