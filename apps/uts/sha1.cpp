// SPDX-License-Identifier: Apache-2.0
#include "uts/sha1.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace uts {
namespace {

// "abc", the first test vector of FIPS 180.
static_assert(sha1_portable({0x61626380, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24}) ==
              digest{0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d});

}  // namespace

#if defined(__x86_64__)

digest sha1_six_words_x86(const digest& head,
                          std::uint32_t tail);  // sha1_x86.cpp, compiled for these instructions

sha1_six_words_function fastest_sha1() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  const bool sse41 = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_SSE4_1) != 0;
  const bool sha = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & bit_SHA) != 0;
  return sse41 && sha ? sha1_six_words_x86 : sha1_six_words;
}

#else

sha1_six_words_function fastest_sha1() noexcept { return sha1_six_words; }

#endif

}  // namespace uts
