// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input of the transform and the checks of its result. Does not use the library.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fft/slab.hpp"
#include "support/random_word.hpp"

namespace fft {

// Point k of the input, in the order [x][y][z].
inline number input_at(std::uint64_t seed, std::size_t k) {
  return {apps::random_fraction(apps::random_word(seed, 2 * k)) - 0.5,
          apps::random_fraction(apps::random_word(seed, 2 * k + 1)) - 0.5};
}

// The wave numbers of which the coefficients are computed from the definition as well.
struct wave {
  std::size_t x;
  std::size_t y;
  std::size_t z;
};
constexpr std::size_t waves = 3;
inline std::array<wave, waves> some_waves(const shape& s) {
  return {{{0, 0, 0}, {s.x / 2, s.y / 3, s.z - 1}, {s.x - 1, s.y / 2, s.z / 3}}};
}

// A place's part of the checks; add up those of all places.
struct sums {
  double energy = 0;                   // of the input
  double transformed = 0;              // the same of the coefficients, by Parseval's theorem
  double difference = 0;               // the squared error after forward and backward
  std::array<number, waves> direct{};  // coefficients from the definition
  std::array<number, waves> by_fft{};  // the same by the transform

  friend sums operator+(sums a, const sums& b) {
    a.energy += b.energy;
    a.transformed += b.transformed;
    a.difference += b.difference;
    for (std::size_t w = 0; w < waves; ++w) {
      a.direct[w] += b.direct[w];
      a.by_fft[w] += b.by_fft[w];
    }
    return a;
  }
};

// The part of the place with the given index, from its input, its coefficients, and its points
// after forward and backward.
inline sums check(const shape& s, std::size_t place, std::uint64_t seed,
                  const std::vector<number>& coefficients, const std::vector<number>& back) {
  sums all;
  const auto chosen = some_waves(s);
  const std::size_t first = place * s.local();
  const double scale = 1 / static_cast<double>(s.points());
  for (std::size_t k = 0; k < s.local(); ++k) {
    const number in = input_at(seed, first + k);
    all.energy += std::norm(in);
    all.transformed += std::norm(coefficients[k]) * scale;
    all.difference += std::norm(back[k] * scale - in);
  }
  for (std::size_t w = 0; w < waves; ++w) {
    const auto& [wx, wy, wz] = chosen[w];
    for (std::size_t k = 0; k < s.local(); k += s.z) {  // a line along z
      const std::size_t x = (first + k) / (s.y * s.z);
      const std::size_t y = (first + k) / s.z % s.y;
      number line = 0;
      for (std::size_t z = 0; z < s.z; ++z) {
        line += input_at(seed, first + k + z) * root_of_unity(wz * z, s.z, -1);
      }
      all.direct[w] += line * root_of_unity(wx * x, s.x, -1) * root_of_unity(wy * y, s.y, -1);
    }
    if (wy / s.my_y() == place) {
      all.by_fft[w] = coefficients[(wx * s.my_y() + wy % s.my_y()) * s.z + wz];
    }
  }
  return all;
}

// The errors relative to the size of the input: of the inverse, of Parseval's theorem, and of the
// coefficients from the definition.
struct errors {
  explicit errors(const sums& all)
      : inverse(std::sqrt(all.difference / all.energy)),
        parseval(std::abs(all.transformed / all.energy - 1)) {
    for (std::size_t w = 0; w < waves; ++w) {
      const double apart = std::abs(all.direct[w] - all.by_fft[w]) / std::sqrt(all.energy);
      direct = std::max(direct, apart);
    }
  }
  // Rounding errors grow with the logarithm of the number of points in the transform, and with its
  // square root in the sums of the definition.
  [[nodiscard]] bool small(const shape& s) const {
    const double root = std::sqrt(static_cast<double>(s.points()));
    return inverse <= 1e-14 && parseval <= 1e-15 * (100 + root) && direct <= 1e-15 * (100 + root);
  }

  double inverse;
  double parseval;
  double direct = 0;
};

// The floating-point operations of forward and backward, by the usual count.
inline double operations(const shape& s) {
  const auto points = static_cast<double>(s.points());
  return 2 * 5 * points * std::log2(points);
}

}  // namespace fft
