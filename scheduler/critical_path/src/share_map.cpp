// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include "share_map.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr unsigned key_bits = 3;  // of each level
constexpr std::size_t fan_out = std::size_t{1} << key_bits;

std::size_t index_at(unsigned level, std::uint64_t key) noexcept {
  return key >> (key_bits * level) & (fan_out - 1);
}

}  // namespace

struct share_map::leaf {
  std::array<std::uint64_t, fan_out> ticks{};
};
struct share_map::inner {
  std::array<link, fan_out> below;
};

share_map::link share_map::with_added(const link& at, unsigned level, std::uint64_t key,
                                      std::uint64_t ticks) {
  const std::size_t i = index_at(level, key);
  if (level == 0) {
    const auto* const old = static_cast<const leaf*>(at.get());
    const auto made = old == nullptr ? std::make_shared<leaf>() : std::make_shared<leaf>(*old);
    made->ticks[i] += ticks;
    return made;
  }
  const auto* const old = static_cast<const inner*>(at.get());
  const auto made = old == nullptr ? std::make_shared<inner>() : std::make_shared<inner>(*old);
  made->below[i] = with_added(made->below[i], level - 1, key, ticks);
  return made;
}

void share_map::add(std::uint64_t key, std::uint64_t ticks) {
  while (key >> (key_bits * (level_ + 1)) != 0) {
    if (root_ != nullptr) {
      const auto higher = std::make_shared<inner>();
      higher->below[0] = root_;
      root_ = higher;
    }
    ++level_;
  }
  root_ = with_added(root_, level_, key, ticks);
}

void share_map::collect(const link& at, unsigned level, std::uint64_t first_key,
                        std::vector<entry>& to) {
  for (std::size_t i = 0; at != nullptr && i < fan_out; ++i) {
    const std::uint64_t key = first_key << key_bits | i;
    if (level != 0) {
      collect(static_cast<const inner*>(at.get())->below[i], level - 1, key, to);
    } else if (const std::uint64_t ticks = static_cast<const leaf*>(at.get())->ticks[i]) {
      to.push_back({key, ticks});
    }
  }
}

std::vector<share_map::entry> share_map::entries() const {
  std::vector<entry> all;
  collect(root_, level_, 0, all);
  return all;
}

}  // namespace apgas::inline v0::scheduler
