// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>
#include <apgas/base/random.hpp>

#include "check.hpp"

// Helpers of the team tests: a task at each member, and values that do not commute.
namespace test {

using apgas::place;
using apgas::place_group;
using apgas::team;

// Runs f(t, args...) in a task at each member of t.
template <class F, class... Args>
void everywhere(const team& t, const place_group& group, F f, Args... args) {
  apgas::finish([&] {
    for (place p : group) {
      apgas::async_at(
          p, [](const team& with, F& body, Args&... values) { body(with, values...); }, t, f,
          args...);
    }
  });
}

// The places from the last to the first.
inline place_group backwards() {
  std::vector<place> all(apgas::places().begin(), apgas::places().end());
  std::ranges::reverse(all);
  return place_group(all);
}

// Some of the places, at least one, in any order.
inline place_group random_group(apgas::base::random_engine& random) {
  std::vector<place> all(apgas::places().begin(), apgas::places().end());
  for (std::size_t i = all.size(); i > 1; --i) {
    std::swap(all[i - 1], all[random.below(static_cast<std::uint32_t>(i))]);
  }
  all.resize(1 + random.below(static_cast<std::uint32_t>(all.size())));
  return place_group(all);
}

// A 2 by 2 matrix modulo a prime: multiplication is associative and does not commute.
struct matrix {
  std::uint64_t a = 1, b = 0, c = 0, d = 1;
  bool operator==(const matrix&) const = default;
};
inline matrix operator*(const matrix& x, const matrix& y) {
  constexpr std::uint64_t p = 1'000'003;
  return {(x.a * y.a + x.b * y.c) % p, (x.a * y.b + x.b * y.d) % p, (x.c * y.a + x.d * y.c) % p,
          (x.c * y.b + x.d * y.d) % p};
}
inline matrix of_member(std::size_t i, std::size_t element) {
  return {i + 2, element + 1, 2 * i + 3, 7 * element + 5};
}
inline matrix product(std::size_t members, std::size_t element) {
  matrix all;
  for (std::size_t i = 0; i < members; ++i) all = all * of_member(i, element);
  return all;
}

// The first `size` elements of a member.
inline std::vector<matrix> all_of_member(std::size_t i, std::size_t size) {
  std::vector<matrix> all(size);
  for (std::size_t e = 0; e < size; ++e) all[e] = of_member(i, e);
  return all;
}

}  // namespace test
