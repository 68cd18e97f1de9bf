// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

// Identifies a collective call of a team: as the member has it, as each message carries it, and as
// text for the user. Pure.
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

// A collective call and its source location. All members must make the same call: the same `what`,
// root and size.
struct team_call {
  collective what = collective::none;
  std::size_t root = 0;   // index of a member; 0 if the collective has none
  std::size_t bytes = 0;  // size of each member's contribution; 0 if sizes may differ
  std::source_location site;
};

// A call in the form that travels with each message of it, so that the receiver can compare.
// Wire: as in memory.
struct call_signature {
  std::uint64_t site = 0;   // encode_site
  std::uint64_t what = 0;   // collective: 8 bits, root: 56
  std::uint64_t bytes = 0;  // 64 bits, so that sizes that differ by 4 GiB differ
};
static_assert(sizeof(call_signature) == 24);

call_signature signature_of(const team_call& call) noexcept;

// Whether both are the same call. The source locations may differ.
inline bool same_call(const call_signature& a, const call_signature& b) noexcept {
  return a.what == b.what && a.bytes == b.bytes;
}

// Whether sequence number a comes before b. Sequence numbers wrap around at 2^32.
inline bool before(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

// For messages: "broadcast with member 2 as root of 8 bytes at main.cpp:7".
std::string text_of(const call_signature& s);

}  // namespace apgas::inline v0::remote
