// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// What apgas-ps and apgas-top exchange with a process of a job through its control socket: one
// request and one reply for each connection. All numbers are little-endian.
//
// Wire:
//   request  "APGASCTL", u32 version, u32 length, `length` bytes: some words, such as "report"
//   reply    "APGASCTL", u32 version, u32 status, u64 length, `length` bytes: JSON, or the text of
//            an error
//
// A reply has the version of the process. To a request of another version the status is
// other_version. A connection that begins with other bytes is closed without a reply.
// launch/tools/control_socket.py is the other end.
namespace apgas::inline v0::launch {

inline constexpr std::string_view control_magic = "APGASCTL";
inline constexpr std::uint32_t control_version = 1;
inline constexpr std::size_t longest_control_request = 4352;  // bytes, without the header

enum class control_status : std::uint32_t {
  done = 0,
  other_version = 1,
  unknown_request = 2,
  not_now = 3,  // not all places have answered in time
  failed = 4,
};

// Reads a request from the bytes of a connection, however they are divided.
class control_request {
 public:
  enum class state : std::uint8_t { incomplete, complete, other_version, malformed };

  // Adds bytes that have arrived. Bytes after the end of the request are malformed.
  state add(std::span<const std::byte> bytes);
  // Requires: add() has returned complete.
  std::string_view text() const noexcept;

 private:
  std::string received_;
};

std::string control_reply(control_status status, std::string_view body);

}  // namespace apgas::inline v0::launch
