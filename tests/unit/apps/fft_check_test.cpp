// SPDX-License-Identifier: Apache-2.0

// The checks of apps/fft: they accept the coefficients of the input and the points after forward
// and backward, of one place and of two, and refuse a single wrong number.

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fft/check.hpp"
#include "fft/slab.hpp"

namespace {

using fft::number;

constexpr std::uint64_t fft_seed = 4;
constexpr fft::shape cuboid{6, 4, 5, 1};

// Of one place: the coefficients in the order [x][y][z], and the points after forward and backward.
struct transformed {
  std::vector<number> coefficients;
  std::vector<number> back;
};

transformed transform_alone(const fft::shape& s) {
  const fft::slab steps(s);
  transformed t{std::vector<number>(s.points()), std::vector<number>(s.points())};
  for (std::size_t k = 0; k < s.points(); ++k) t.back[k] = fft::input_at(fft_seed, k);
  for (std::size_t i = 0; i < s.x; ++i) {
    steps.plane_forward(i, t.back.data(), t.coefficients.data());
  }
  for (std::size_t i = 0; i < s.y; ++i) steps.column(i, t.coefficients.data(), true);
  std::vector<number> columns = t.coefficients;
  for (std::size_t i = 0; i < s.y; ++i) steps.column(i, columns.data(), false);
  for (std::size_t i = 0; i < s.x; ++i) steps.plane_backward(i, columns.data(), t.back.data());
  return t;
}

fft::errors errors_after(const std::function<void(transformed&)>& spoil) {
  transformed t = transform_alone(cuboid);
  spoil(t);
  return {cuboid, fft::check(cuboid, 0, fft_seed, t.coefficients, t.back)};
}
bool transform_accepted_after(const std::function<void(transformed&)>& spoil) {
  return errors_after(spoil).small(cuboid);
}

TEST(FftCheck, AcceptsATransformOfEveryShape) {
  for (const auto& [x, y, z] :
       {std::array<std::size_t, 3>{6, 4, 5}, {1, 1, 1}, {1, 1, 60}, {16, 1, 1}, {9, 25, 8}}) {
    const fft::shape s{x, y, z, 1};
    const transformed t = transform_alone(s);
    const fft::errors e(s, fft::check(s, 0, fft_seed, t.coefficients, t.back));
    EXPECT_TRUE(e.small(s)) << x << ' ' << y << ' ' << z;
  }
}

TEST(FftCheck, AcceptsTheSumsOfTwoPlaces) {
  const transformed t = transform_alone(cuboid);
  fft::shape half = cuboid;
  half.places = 2;
  fft::sums all;
  for (std::size_t place = 0; place < 2; ++place) {
    // The points have a share of the x, and the coefficients all x and a share of the y.
    const auto middle = static_cast<std::ptrdiff_t>(place * half.local());
    const std::vector<number> back(t.back.begin() + middle,
                                   t.back.begin() + middle + std::ssize(t.back) / 2);
    std::vector<number> coefficients;
    for (std::size_t k = 0; k < t.coefficients.size(); ++k) {
      if (k / cuboid.z % cuboid.y / half.my_y() == place) coefficients.push_back(t.coefficients[k]);
    }
    all = all + fft::check(half, place, fft_seed, coefficients, back);
  }
  EXPECT_TRUE(fft::errors(half, all).small(half));
}

TEST(FftCheck, RefusesOneWrongCoefficient) {
  for (std::size_t k = 0; k < cuboid.points(); ++k) {
    for (const number by : {number(1e-11, 0), number(0, -1e-11), number(1, 0),
                            number(std::numeric_limits<double>::quiet_NaN(), 0),
                            number(0, std::numeric_limits<double>::infinity())}) {
      EXPECT_FALSE(transform_accepted_after([=](transformed& t) { t.coefficients[k] += by; }))
          << "coefficient " << k << " by " << by;
    }
  }
}

TEST(FftCheck, RefusesCoefficientsInWrongPlaces) {
  // Of these, Parseval's theorem notices nothing, and no coefficient is computed one by one.
  const fft::errors e =
      errors_after([](transformed& t) { std::swap(t.coefficients[1], t.coefficients[2]); });
  EXPECT_LE(e.parseval, 1e-14);
  EXPECT_LE(e.direct, 1e-14);
  EXPECT_GT(e.weighted, 1e-4);
  EXPECT_FALSE(e.small(cuboid));
  EXPECT_FALSE(transform_accepted_after(
      [](transformed& t) { t.coefficients[7] = std::conj(t.coefficients[7]); }));
}

TEST(FftCheck, RefusesCoefficientsThatAreAllZero) {
  EXPECT_FALSE(transform_accepted_after(
      [](transformed& t) { t.coefficients.assign(cuboid.points(), number()); }));
}

TEST(FftCheck, RefusesOnePointThatIsNotRestored) {
  for (std::size_t k = 0; k < cuboid.points(); k += 17) {
    for (const double by : {1e-10, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_FALSE(transform_accepted_after([=](transformed& t) { t.back[k] += by; }))
          << "point " << k << " by " << by;
    }
  }
  EXPECT_FALSE(transform_accepted_after([](transformed& t) { std::swap(t.back[0], t.back[1]); }));
}

TEST(FftCheck, NoErrorHidesThatANumberIsNone) {
  fft::sums all{.energy = 1,
                .transformed = 1,
                .difference = 0,
                .direct = {},
                .by_fft = {},
                .weighted_direct = 0,
                .weighted_by_fft = 0};
  EXPECT_TRUE(fft::errors(cuboid, all).small(cuboid));
  all.by_fft[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fft::errors(cuboid, all).small(cuboid));
  all.by_fft[1] = 0;
  all.weighted_by_fft = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fft::errors(cuboid, all).small(cuboid));
}

}  // namespace
