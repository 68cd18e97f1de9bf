// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "trace_reader.hpp"

namespace apgas::inline v0::launch {
namespace {

[[noreturn]] void truncated(const std::string& name) {
  throw bad_trace_record(fmt::format(
      "{} is not a whole record of a place: its end is missing. Was the disk full?", name));
}

}  // namespace

place_trace::place_trace(std::vector<std::byte> bytes, const std::string& name)
    : bytes_(std::move(bytes)) {
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t n) {
    if (bytes_.size() - at < n) truncated(name);
    std::memcpy(to, bytes_.data() + at, n);
    at += n;
  };
  if (bytes_.size() < sizeof header_) truncated(name);
  take(&header_, sizeof header_);
  if (header_.magic != trace::header::magic_number) {
    throw bad_trace_record(fmt::format(
        "{} is not a record that a place has left: name a file such as run.json.place0", name));
  }
  const std::size_t padding = (8 - header_.text_bytes % 8) % 8;
  if (bytes_.size() - at < header_.text_bytes || bytes_.size() - at - header_.text_bytes < padding)
    truncated(name);
  const std::size_t texts_end = at + header_.text_bytes;
  while (at < texts_end) {
    std::uint32_t length = 0;
    take(&length, sizeof length);
    if (length > texts_end - at) truncated(name);
    texts_.emplace_back(reinterpret_cast<const char*>(bytes_.data() + at), length);
    at += length;
  }
  at += padding;
  for (std::uint32_t i = 0; i < header_.threads; ++i) {
    trace::thread_header of;
    take(&of, sizeof of);
    if (of.words > (bytes_.size() - at) / sizeof(std::uint64_t)) truncated(name);
    const auto* const words = reinterpret_cast<const std::uint64_t*>(bytes_.data() + at);
    threads_.push_back({{words, of.words}, of.dropped, i + 1 < header_.threads});
    at += of.words * sizeof(std::uint64_t);
  }
}

std::int64_t place_trace::clock_ns(std::uint64_t cycles) const noexcept {
  const auto begun = static_cast<std::int64_t>(header_.start_cycles - header_.base_cycles);
  const auto cycles_passed = static_cast<long double>(header_.end_cycles - header_.start_cycles);
  const auto passed = static_cast<long double>(header_.end_ns - header_.start_ns);
  const long double each = cycles_passed > 0 ? passed / cycles_passed : 0;
  return static_cast<std::int64_t>(header_.start_ns) +
         static_cast<std::int64_t>(
             static_cast<long double>(static_cast<std::int64_t>(cycles) - begun) * each);
}

trace_site site_of_text(std::string_view text) noexcept {
  const std::size_t first = text.find('\0');
  if (first == std::string_view::npos) return {};
  const std::size_t second = text.find('\0', first + 1);
  if (second == std::string_view::npos) return {};
  return {text.substr(0, first), text.substr(first + 1, second - first - 1),
          text.substr(second + 1)};
}

}  // namespace apgas::inline v0::launch
