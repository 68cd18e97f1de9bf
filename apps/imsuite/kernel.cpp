// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "imsuite/kernel.hpp"

namespace imsuite {

std::span<const kernel* const> kernels() {
  static constexpr std::array<const kernel*, 11> all = {&kcommittee,
                                                        &leader_elect_hs,
                                                        &leader_elect_lcr,
                                                        &byzantine,
                                                        &bfs_bellman_ford,
                                                        &bfs_dijkstra,
                                                        &mis,
                                                        &mst,
                                                        &vertex_coloring,
                                                        &dominating_set,
                                                        &leader_elect_dp};
  return all;
}

const kernel* find_kernel(std::string_view name) {
  const auto found = std::ranges::find_if(
      kernels(), [name](const kernel* k) { return name == k->name || name == k->short_name; });
  return found == kernels().end() ? nullptr : *found;
}

}  // namespace imsuite
