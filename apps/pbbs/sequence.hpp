// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sequences of the suite: 64-bit words of three distributions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pbbs {

using word = std::uint64_t;
using sequence = std::vector<word>;

// "random": uniform in [0, n). "exponential": each power of two up to n as probable as the others,
// and uniform up to the next power, so that many elements are small and equal. "trigrams": words
// of English, the first eight letters in one word of memory, made letter by letter with the
// probabilities of a letter after two others.
[[nodiscard]] sequence make_sequence(const std::string& distribution, std::size_t n);

}  // namespace pbbs
