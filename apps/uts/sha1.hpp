// SPDX-License-Identifier: Apache-2.0
#pragma once

// SHA-1 (FIPS 180-4) of messages that fit into one 64-byte block, which is all that the generator
// of the UTS benchmark needs. A digest is stored as five native words. The byte string of the
// standard is their big-endian form, so no bytes are ever swapped.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace uts {

using digest = std::array<std::uint32_t, 5>;
using message_block = std::array<std::uint32_t, 16>;  // padded, in native words

inline constexpr digest sha1_start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

// A message of whole words with its padding: a one bit, zeros, and the length in bits.
template <class... Words>
constexpr message_block sha1_pad(Words... words) {
  static_assert(sizeof...(Words) <= 13, "one block holds 55 bytes");
  message_block block{words..., 0x80000000U};
  block[15] = 32 * sizeof...(Words);
  return block;
}

namespace detail {

// Round T of 80. The five variables a .. e of the standard are v[0] .. v[4], rotated by one
// position in each round, so that the compiler renames them instead of moving them.
template <unsigned T>
[[gnu::always_inline]] constexpr void sha1_round(std::array<std::uint32_t, 5>& v,
                                                 message_block& words) {
  const std::uint32_t a = v[(80 - T) % 5];
  std::uint32_t& b = v[(81 - T) % 5];
  const std::uint32_t c = v[(82 - T) % 5];
  const std::uint32_t d = v[(83 - T) % 5];
  std::uint32_t& e = v[(84 - T) % 5];
  std::uint32_t& w = words[T % 16];
  if constexpr (T >= 16) {
    w = std::rotl(words[(T + 13) % 16] ^ words[(T + 8) % 16] ^ words[(T + 2) % 16] ^ w, 1);
  }
  e += std::rotl(a, 5) + w;
  if constexpr (T < 20) {
    e += (d ^ (b & (c ^ d))) + 0x5a827999;
  } else if constexpr (T < 40) {
    e += (b ^ c ^ d) + 0x6ed9eba1;
  } else if constexpr (T < 60) {
    e += (b & c) + (d & (b ^ c)) + 0x8f1bbcdc;
  } else {
    e += (b ^ c ^ d) + 0xca62c1d6;
  }
  b = std::rotl(b, 30);
}

template <unsigned... Ts>
[[gnu::always_inline]] constexpr void sha1_rounds(std::array<std::uint32_t, 5>& v,
                                                  message_block& words,
                                                  std::integer_sequence<unsigned, Ts...>) {
  (sha1_round<Ts>(v, words), ...);
}

}  // namespace detail

// The compression function in plain C++, applied to the first block of a message.
constexpr digest sha1_portable(message_block words) {
  digest v = sha1_start;
  detail::sha1_rounds(v, words, std::make_integer_sequence<unsigned, 80>{});
  for (std::size_t i = 0; i < v.size(); ++i) v[i] += sha1_start[i];
  return v;
}

// The digest of the six words of `head` and `tail`, which the trees compute for every node.
constexpr digest sha1_six_words(const digest& head, std::uint32_t tail) {
  return sha1_portable(sha1_pad(head[0], head[1], head[2], head[3], head[4], tail));
}

// The same by the fastest method of this processor: the SHA instructions of x86-64 if they exist.
using sha1_six_words_function = digest (*)(const digest& head, std::uint32_t tail);
sha1_six_words_function fastest_sha1() noexcept;

}  // namespace uts
