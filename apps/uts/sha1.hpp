// SPDX-License-Identifier: Apache-2.0
#pragma once

// SHA-1 (FIPS 180-4) of messages that fit into one 64-byte block, which is all the generator of the
// UTS benchmark needs. A digest is kept as five native words; the byte string that the standard
// speaks of is their big-endian form, so no bytes are ever swapped.

#include <array>
#include <bit>
#include <cstdint>

namespace uts {

using digest = std::array<std::uint32_t, 5>;
using message_block = std::array<std::uint32_t, 16>;  // padded, in native words

inline constexpr digest sha1_start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

// A message of whole words, with its padding: a one bit, zeros, and the length in bits.
template <class... Words>
constexpr message_block sha1_pad(Words... words) {
  static_assert(sizeof...(Words) <= 13, "one block holds 55 bytes");
  message_block block{words..., 0x80000000U};
  block[15] = 32 * sizeof...(Words);
  return block;
}

// The compression function in plain C++, applied to the first block of a message.
constexpr digest sha1_portable(message_block w) {
  std::uint32_t a = sha1_start[0];
  std::uint32_t b = sha1_start[1];
  std::uint32_t c = sha1_start[2];
  std::uint32_t d = sha1_start[3];
  std::uint32_t e = sha1_start[4];
  const auto expand = [&w](unsigned t) {
    std::uint32_t& word = w[t % 16];
    if (t >= 16) word = std::rotl(w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ word, 1);
    return word;
  };
  const auto round = [&](unsigned t, std::uint32_t f, std::uint32_t k) {
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + expand(t);
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  // Unrolled by 20, the five variables rotate by renaming and the words stay in registers.
#pragma GCC unroll 20
  for (unsigned t = 0; t < 20; ++t) round(t, (b & c) | (~b & d), 0x5a827999);
#pragma GCC unroll 20
  for (unsigned t = 20; t < 40; ++t) round(t, b ^ c ^ d, 0x6ed9eba1);
#pragma GCC unroll 20
  for (unsigned t = 40; t < 60; ++t) round(t, (b & c) | (b & d) | (c & d), 0x8f1bbcdc);
#pragma GCC unroll 20
  for (unsigned t = 60; t < 80; ++t) round(t, b ^ c ^ d, 0xca62c1d6);
  return {sha1_start[0] + a, sha1_start[1] + b, sha1_start[2] + c, sha1_start[3] + d,
          sha1_start[4] + e};
}

// The same by the fastest way this processor has: the SHA instructions of x86-64, where they are.
using sha1_function = digest (*)(const message_block&);
sha1_function fastest_sha1() noexcept;

}  // namespace uts
