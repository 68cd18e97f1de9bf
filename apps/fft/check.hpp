// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input of the transform and the checks of its result. Does not use the library.

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "fft/slab.hpp"
#include "support/greatest.hpp"
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

// A weight of absolute value 1 for each wave number along one axis, and the Fourier transform of
// these weights. The sum of all coefficients, each times its three weights, is that of all points
// of the input, each times the three transforms. So it tells whether each coefficient is right and
// in its place.
struct axis {
  axis(std::size_t n, std::uint64_t seed) : weights(n), transform(n) {
    std::vector<number> roots(n);
    for (std::size_t k = 0; k < n; ++k) {
      roots[k] = root_of_unity(k, n, -1);
      const double turn = apps::random_fraction(apps::random_word(seed, k));
      weights[k] = std::polar(1.0, 2 * std::numbers::pi * turn);
    }
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) transform[j] += weights[k] * roots[j * k % n];
    }
  }

  std::vector<number> weights;
  std::vector<number> transform;
};

// A place's part of the checks; add up those of all places.
struct sums {
  double energy = 0;                   // of the input
  double transformed = 0;              // the same of the coefficients, by Parseval's theorem
  double difference = 0;               // the squared error after forward and backward
  std::array<number, waves> direct{};  // coefficients from the definition
  std::array<number, waves> by_fft{};  // the same by the transform
  number weighted_direct;              // the weighted sum of all coefficients, from the input
  number weighted_by_fft;              // the same from the coefficients

  friend sums operator+(sums a, const sums& b) {
    a.energy += b.energy;
    a.transformed += b.transformed;
    a.difference += b.difference;
    a.weighted_direct += b.weighted_direct;
    a.weighted_by_fft += b.weighted_by_fft;
    for (std::size_t w = 0; w < waves; ++w) {
      a.direct[w] += b.direct[w];
      a.by_fft[w] += b.by_fft[w];
    }
    return a;
  }
};

// Adds the part of the place with the given index to the weighted sums.
inline void add_weighted(sums& all, const shape& s, std::size_t place, std::uint64_t seed,
                         const std::vector<number>& coefficients) {
  const axis along_x(s.x, 1);
  const axis along_y(s.y, 2);
  const axis along_z(s.z, 3);
  const std::size_t first = place * s.local();
  for (std::size_t k = 0; k < s.local(); k += s.z) {  // a line along z
    number line = 0;
    number line_by_fft = 0;
    for (std::size_t z = 0; z < s.z; ++z) {
      line += input_at(seed, first + k + z) * along_z.transform[z];
      line_by_fft += coefficients[k + z] * along_z.weights[z];
    }
    const std::size_t row = (first + k) / s.z;
    all.weighted_direct += line * along_x.transform[row / s.y] * along_y.transform[row % s.y];
    // The coefficients have all x, and the y of this place.
    const std::size_t x = k / s.z / s.my_y();
    const std::size_t y = place * s.my_y() + k / s.z % s.my_y();
    all.weighted_by_fft += line_by_fft * along_x.weights[x] * along_y.weights[y];
  }
}

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
  add_weighted(all, s, place, seed, coefficients);
  return all;
}

// The errors relative to the size of the input: of the inverse, of Parseval's theorem, of the
// coefficients from the definition, and of the weighted sum of all coefficients.
struct errors {
  errors(const shape& s, const sums& all)
      : inverse(std::sqrt(all.difference / all.energy)),
        parseval(std::abs(all.transformed / all.energy - 1)),
        weighted(std::abs(all.weighted_direct - all.weighted_by_fft) /
                 std::sqrt(all.energy * static_cast<double>(s.points()))) {
    for (std::size_t w = 0; w < waves; ++w) {
      const double apart = std::abs(all.direct[w] - all.by_fft[w]) / std::sqrt(all.energy);
      apps::keep_greatest(direct, apart);
    }
  }
  // Rounding errors grow with the logarithm of the number of points in the transform, and with its
  // square root in the sums of the definition. False if an error is not a number.
  [[nodiscard]] bool small(const shape& s) const {
    const double of_sum = 1e-15 * (100 + std::sqrt(static_cast<double>(s.points())));
    return inverse <= 1e-14 && parseval <= of_sum && direct <= of_sum && weighted <= of_sum;
  }

  double inverse;
  double parseval;
  double direct = 0;
  double weighted;
};

// The floating-point operations of forward and backward, by the usual count.
inline double operations(const shape& s) {
  const auto points = static_cast<double>(s.points());
  return 2 * 5 * points * std::log2(points);
}

}  // namespace fft
