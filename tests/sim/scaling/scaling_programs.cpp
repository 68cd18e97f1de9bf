// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>

#include "scaling_programs.hpp"

namespace apgas::test::scaling {

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
  throw std::invalid_argument("no program is called " + std::string(name));
}

}  // namespace apgas::test::scaling
