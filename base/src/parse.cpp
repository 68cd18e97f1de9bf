// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/parse.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <system_error>
#include <vector>

namespace apgas::inline v0::base {
namespace {

// Parses the number at the front of `text` and removes it from the text.
template <class Number>
std::optional<Number> leading_number(std::string_view& text) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<unsigned> unit_shift(std::string_view unit) {
  if (unit.empty()) return 0;
  if (unit.size() == 3 && unit.ends_with("iB")) unit.remove_suffix(2);
  if (unit == "K" || unit == "k") return 10;
  if (unit == "M") return 20;
  if (unit == "G") return 30;
  return std::nullopt;
}

}  // namespace

std::optional<long> parse_integer(std::string_view text, long low, long high) {
  auto value = leading_number<long>(text);
  if (!value || !text.empty() || *value < low || *value > high) return std::nullopt;
  return value;
}

std::optional<std::size_t> parse_bytes(std::string_view text, std::size_t low, std::size_t high) {
  auto value = leading_number<std::size_t>(text);
  auto shift = unit_shift(text);
  if (!value || !shift) return std::nullopt;
  if (*value > (std::numeric_limits<std::size_t>::max() >> *shift)) return std::nullopt;
  const std::size_t bytes = *value << *shift;
  if (bytes < low || bytes > high) return std::nullopt;
  return bytes;
}

std::optional<bool> parse_flag(std::string_view text) {
  if (text == "1" || text == "on" || text == "true" || text == "yes") return true;
  if (text == "0" || text == "off" || text == "false" || text == "no") return false;
  return std::nullopt;
}

std::string show_bytes(std::size_t bytes) {
  for (auto [shift, unit] : {std::pair{30, "G"}, {20, "M"}, {10, "K"}}) {
    if (bytes >> shift != 0 && (bytes >> shift) << shift == bytes) {
      return std::to_string(bytes >> shift) + unit;
    }
  }
  return std::to_string(bytes);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace apgas::inline v0::base
