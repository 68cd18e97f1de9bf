// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text to numbers, for settings. All of the text must be used; nothing is guessed.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace apgas::inline v0::base {

// A decimal integer in [low, high], else nothing.
std::optional<long> parse_integer(std::string_view text, long low, long high);

// A size: bytes, or with K, M, G (also KiB, MiB, GiB; powers of 1024), in [low, high].
std::optional<std::size_t> parse_bytes(std::string_view text, std::size_t low, std::size_t high);

// 1/0, on/off, true/false, yes/no.
std::optional<bool> parse_flag(std::string_view text);

// The shortest of "64K", "1M" and plain bytes that says exactly `bytes`.
std::string show_bytes(std::size_t bytes);

// How many letters must change, come or go to make one text of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace apgas::inline v0::base
