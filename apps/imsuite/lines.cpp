// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "imsuite/input.hpp"
#include "imsuite/lines.hpp"

namespace imsuite {
namespace {

// Quotes a line in a message: shortened, and with '?' for non-printable characters.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 24;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace

lines::lines(std::string path) : path_(std::move(path)), file_(path_) {
  if (!file_) throw input_error(path_ + ": wanted an input file, but it cannot be opened");
}

const std::string& lines::next(std::string_view wanted) {
  ++number_;
  if (!std::getline(file_, line_)) refuse(wanted, "the end of the file");
  return line_;
}

int lines::integer(std::string_view wanted, int low, int high) {
  const std::string& text = next(wanted);
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    refuse(std::string(wanted) + " from " + std::to_string(low) + " to " + std::to_string(high),
           in_quotes(text));
  }
  return value;
}

const std::string& lines::bits(std::string_view wanted, int nodes) {
  const std::string& text = next(wanted);
  const std::string row = std::string(wanted) + ", " + std::to_string(nodes) + " of '0' and '1'";
  if (text.size() != static_cast<std::size_t>(nodes)) {
    refuse(row, std::to_string(text.size()) + " characters");
  }
  const std::size_t wrong = text.find_first_not_of("01");
  if (wrong != std::string::npos) {
    refuse(row, in_quotes(text.substr(wrong, 1)) + " in column " + std::to_string(wrong + 1));
  }
  return text;
}

void lines::separator() {
  const std::string& text = next("a line that is one space");
  if (text != " ") refuse("a line that is one space", in_quotes(text));
}

void lines::end() {
  while (std::getline(file_, line_)) {
    ++number_;
    if (line_.find_first_not_of(" \r") != std::string::npos) {
      refuse("the end of the file", in_quotes(line_));
    }
  }
}

void lines::refuse(std::string_view wanted, const std::string& found) const {
  throw input_error(path_ + ":" + std::to_string(number_) + ": wanted " + std::string(wanted) +
                    ", found " + found);
}

}  // namespace imsuite
