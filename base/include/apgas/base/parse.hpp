// SPDX-License-Identifier: Apache-2.0
#pragma once

// Conversion of text to numbers, for settings. The whole text must be part of the number: spaces or
// trailing characters make it invalid.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace apgas::inline v0::base {

// Parses a decimal integer. Returns nothing unless the result is in [low, high].
std::optional<long> parse_integer(std::string_view text, long low, long high);

// Parses a size in bytes, which may end in K, M or G (also KiB, MiB, GiB), all powers of 1024.
// Returns nothing unless the result is in [low, high].
std::optional<std::size_t> parse_bytes(std::string_view text, std::size_t low, std::size_t high);

// Parses 1/0, on/off, true/false or yes/no. Returns nothing for any other text.
std::optional<bool> parse_flag(std::string_view text);

// Returns the shortest text that parse_bytes reads as `bytes`, such as "64K", "1M" or "1000".
std::string show_bytes(std::size_t bytes);

// Returns the Levenshtein distance: the number of single-letter insertions, deletions and
// substitutions that turn one text into the other. Cost: proportional to the product of the
// lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace apgas::inline v0::base
