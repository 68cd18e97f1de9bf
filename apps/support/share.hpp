// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace apps {

struct range {
  std::ptrdiff_t first;
  std::ptrdiff_t last;
};

// The part of [first, last) that is the share of one of the members, in blocks.
constexpr range share(int member, int members, std::ptrdiff_t first, std::ptrdiff_t last) {
  const std::ptrdiff_t n = last - first;
  return {first + n * member / members, first + n * (member + 1) / members};
}

}  // namespace apps
