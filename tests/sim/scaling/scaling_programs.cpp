// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>

#include "scaling_programs.hpp"

namespace apgas::test::scaling {

std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return z ^ (z >> 31U);
}

std::uint64_t children_of(const program& p, const task& t) {
  const double u = static_cast<double>(t.a >> 11U) * 0x1p-53;
  if (p.depth == 0) {  // binomial
    if (t.depth == 0) return p.root_children;
    return u < 0.124875 ? 8 : 0;
  }
  if (t.depth >= p.depth) return 0;
  const double more = static_cast<double>(p.branching) / (1 + p.branching);
  std::uint64_t n = 0;
  for (double reach = more; u < reach && n < 100; reach *= more) ++n;
  return n;
}

program program_called(std::string_view name, int workers, std::uint64_t size) {
  constexpr cycles ten_us = 24'500;
  // Seeds whose trees have about as many nodes as those of UTS.
  constexpr std::uint64_t geometric_seed = 5;
  constexpr std::uint64_t binomial_seed = 17;
  if (name == "fib") return {.root = {.what = kind::fib, .a = size}, .per_task = 8};
  if (name == "geometric") {
    return {.root = {.what = kind::tree_node, .a = mixed(geometric_seed)},
            .branching = 4,
            .depth = static_cast<int>(size)};
  }
  if (name == "binomial") {
    return {.root = {.what = kind::tree_node, .a = binomial_seed}, .root_children = size};
  }
  if (name == "loop") {
    return {
        .root = {.what = kind::range, .b = size},
        .per_task = ten_us,
        .grain = std::clamp<std::uint64_t>(size / (64 * static_cast<unsigned>(workers)), 1, 4096)};
  }
  if (name == "producer") {
    return {.root = {.what = kind::producer, .a = size}, .per_task = ten_us};
  }
  if (name == "rounds") {
    constexpr cycles tenth_us = 245;
    return {.root = {.what = kind::rounds, .a = size, .b = static_cast<unsigned>(workers)},
            .per_task = tenth_us};
  }
  if (name == "clock") {
    constexpr cycles tenth_us = 245;
    const auto phases = std::clamp<std::uint64_t>((std::uint64_t{1} << 17U) / size, 16, 256);
    return {.root = {.what = kind::producer, .a = size},
            .per_task = tenth_us,
            .phases = static_cast<std::int64_t>(phases)};
  }
  throw std::invalid_argument("no program is called " + std::string(name));
}

}  // namespace apgas::test::scaling
