// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace pbbs {

inline constexpr std::array<std::string_view, 4> kernels_of_sequences = {"scan", "pack", "filter",
                                                                         "sort"};
inline constexpr std::array<std::string_view, 4> kernels_of_graphs = {"mis", "matching",
                                                                      "colouring", "bfs"};
inline constexpr std::array<std::string_view, 3> sequences = {"random", "exponential", "trigrams"};
inline constexpr std::array<std::string_view, 3> graphs = {"rmat", "grid3d", "local"};

[[nodiscard]] bool takes_graph(const std::string& kernel);

// What is wrong with the combination, and what to do, or an empty text: an input of the wrong kind,
// or one that is too large for the machine.
[[nodiscard]] std::string wrong_input(const std::string& kernel, const std::string& input,
                                      std::int64_t n);

}  // namespace pbbs
