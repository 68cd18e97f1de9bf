// SPDX-License-Identifier: Apache-2.0

// SHA-1 with the SHA instructions of x86-64. The only file compiled for them (see CMakeLists.txt);
// called after fastest_sha1() has found them.
//
// One sha1rnds4 does four rounds, so twenty groups make a block. The state is two registers: a, b,
// c and d, with a in the highest lane, and e in the highest lane of another. In group g,
//   sha1nexte  adds e, which is what a was four rounds ago, to the next four message words,
//   sha1msg1, xor and sha1msg2 make the message words of group g + 4 from those of g .. g + 3.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <immintrin.h>

#include "uts/sha1.hpp"

namespace uts {
namespace {

struct state {
  __m128i abcd;
  __m128i e;
  __m128i words[4];  // of the groups g .. g + 3, at g % 4
};

template <std::size_t Group>
inline void four_rounds(state& s) {
  constexpr int function = Group / 5;  // which of the four round functions and constants
  __m128i& words = s.words[Group % 4];
  const __m128i input = Group == 0 ? _mm_add_epi32(s.e, words) : _mm_sha1nexte_epu32(s.e, words);
  s.e = s.abcd;
  s.abcd = _mm_sha1rnds4_epu32(s.abcd, input, function);
  if constexpr (Group < 16) {
    const __m128i mixed = _mm_xor_si128(_mm_sha1msg1_epu32(words, s.words[(Group + 1) % 4]),
                                        s.words[(Group + 2) % 4]);
    words = _mm_sha1msg2_epu32(mixed, s.words[(Group + 3) % 4]);
  }
}

template <std::size_t... Groups>
inline void all_rounds(state& s, std::index_sequence<Groups...>) {
  (four_rounds<Groups>(s), ...);
}

inline __m128i reversed(__m128i words) { return _mm_shuffle_epi32(words, 0x1b); }

inline __m128i load(const std::uint32_t* four_words) {  // the first into the highest lane
  return reversed(_mm_loadu_si128(reinterpret_cast<const __m128i*>(four_words)));
}

}  // namespace

// NOLINTNEXTLINE(readability-redundant-declaration): no header declares it
digest sha1_six_words_x86(const digest& head, std::uint32_t tail);

digest sha1_six_words_x86(const digest& head, std::uint32_t tail) {
  const __m128i abcd = load(sha1_start.data());
  const __m128i e = _mm_set_epi32(static_cast<int>(sha1_start[4]), 0, 0, 0);
  // Assembled in registers: the words would be read back before they have reached memory.
  const __m128i tail_and_end_mark = _mm_set_epi32(static_cast<int>(head[4]), static_cast<int>(tail),
                                                  std::numeric_limits<int>::min(), 0);
  const __m128i length = _mm_set_epi32(0, 0, 0, 6 * 32);
  state s{abcd, e, {load(head.data()), tail_and_end_mark, _mm_setzero_si128(), length}};
  all_rounds(s, std::make_index_sequence<20>{});

  digest result;
  const __m128i sum = reversed(_mm_add_epi32(s.abcd, abcd));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(result.data()), sum);
  result[4] = static_cast<std::uint32_t>(_mm_extract_epi32(_mm_sha1nexte_epu32(s.e, e), 3));
  return result;
}

}  // namespace uts
