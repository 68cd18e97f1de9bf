// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

// What a member of a team has called: as it knows it, as it travels with each message, as the user
// reads it. Pure.
namespace apgas::inline v0::remote {

enum class collective : std::uint8_t {
  none,
  barrier,
  broadcast,
  reduce,
  allreduce,
  scatter,
  gather,
  alltoall,
  split,
  destroy,
};
const char* to_string(collective what) noexcept;

// A call, and where it is in the program. All members must have called the same `what`, with the
// same root and size.
struct team_call {
  collective what = collective::none;
  std::size_t root = 0;   // an index; 0 where there is none
  std::size_t bytes = 0;  // of a member's contribution; 0 where they may differ
  std::source_location site;
};

// Wire: as it is in memory.
struct call_signature {
  std::uint64_t site = 0;   // encode_site
  std::uint64_t what = 0;   // collective: 8 bits, root: 56
  std::uint64_t bytes = 0;  // all of them: sizes that differ by 4 GiB differ
};
static_assert(sizeof(call_signature) == 24);

call_signature signature_of(const team_call& call) noexcept;

// The call is the same; where it is may differ.
inline bool same_call(const call_signature& a, const call_signature& b) noexcept {
  return a.what == b.what && a.bytes == b.bytes;
}

// Calls of a team are numbered modulo 2^32.
inline bool before(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

// "broadcast with member 2 as root of 8 bytes at main.cpp:7"
std::string text_of(const call_signature& s);

}  // namespace apgas::inline v0::remote
