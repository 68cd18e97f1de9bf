// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control_protocol.hpp"

namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t version_at = control_magic.size();
constexpr std::size_t length_at = version_at + 4;
constexpr std::size_t request_header_bytes = length_at + 4;

std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- != 0;) {
    value = value << 8U | static_cast<unsigned char>(text[at + i]);
  }
  return value;
}

void append_number(std::string& text, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xffU);
}

}  // namespace

control_request::state control_request::add(std::span<const std::byte> bytes) {
  constexpr std::size_t most = request_header_bytes + longest_control_request;
  const std::size_t room = most + 1 - std::min(most + 1, received_.size());
  for (const std::byte b : bytes.first(std::min(bytes.size(), room))) {
    received_ += static_cast<char>(b);
  }
  const std::size_t compared = std::min(received_.size(), control_magic.size());
  if (!control_magic.starts_with(std::string_view(received_).substr(0, compared))) {
    return state::malformed;
  }
  if (received_.size() < request_header_bytes) return state::incomplete;
  if (number_at(received_, version_at, 4) != control_version) return state::other_version;
  const std::uint64_t length = number_at(received_, length_at, 4);
  const std::size_t there = received_.size() - request_header_bytes;
  if (length > longest_control_request || there > length) return state::malformed;
  return there == length ? state::complete : state::incomplete;
}

std::string_view control_request::text() const noexcept {
  return std::string_view(received_).substr(request_header_bytes);
}

std::string control_reply(control_status status, std::string_view body) {
  std::string reply(control_magic);
  append_number(reply, control_version, 4);
  append_number(reply, static_cast<std::uint32_t>(status), 4);
  append_number(reply, body.size(), 8);
  return reply.append(body);
}

}  // namespace apgas::inline v0::launch
