// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "fft/kernel.hpp"

namespace fft {
namespace {

// The radices of the stages: four as often as possible.
std::vector<std::size_t> factors(std::size_t n) {
  std::vector<std::size_t> all;
  for (const std::size_t r : std::array<std::size_t, 4>{4, 2, 3, 5}) {
    for (; n % r == 0; n /= r) all.push_back(r);
  }
  return all;
}

// The product without the check for infinite results that std::complex makes.
number times(number a, number b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
// b times i, or -i for a forward transform.
template <bool Forward>
number turned(number b) {
  return Forward ? number{b.imag(), -b.real()} : number{-b.imag(), b.real()};
}

// The transform of R numbers by its definition, for 3 and 5.
template <std::size_t R, bool Forward>
std::array<number, R> small_transform(const std::array<number, R>& x) {
  std::array<number, R> y;
  y.fill(x[0]);
  static const auto roots = [] {
    std::array<number, R> all;
    for (std::size_t k = 0; k < R; ++k) all[k] = root_of_unity(k, R, Forward ? -1 : 1);
    return all;
  }();
  for (std::size_t k = 0; k < R; ++k) {
    for (std::size_t j = 1; j < R; ++j) y[k] += times(x[j], roots[j * k % R]);
  }
  return y;
}
template <std::size_t R, bool Forward>
std::array<number, R> butterfly(const std::array<number, R>& x) {
  if constexpr (R == 2) {
    return {x[0] + x[1], x[0] - x[1]};
  } else if constexpr (R == 4) {
    const number even = x[0] + x[2];
    const number odd = x[1] + x[3];
    const number even_difference = x[0] - x[2];
    const number odd_difference = turned<Forward>(x[1] - x[3]);
    return {even + odd, even_difference + odd_difference, even - odd,
            even_difference - odd_difference};
  } else {
    return small_transform<R, Forward>(x);
  }
}

// One stage. `from` holds sequences of R * butterflies points with the given stride.
template <std::size_t R, bool Forward>
void run_stage(const number* from, number* to, const number* twiddles, std::size_t butterflies,
               std::size_t stride) {
  const std::size_t step = butterflies * stride;
  for (std::size_t p = 0; p < butterflies; ++p) {
    std::array<number, R> w;
    w[0] = 1;
    for (std::size_t j = 1; j < R; ++j) {
      const number f = twiddles[p * (R - 1) + j - 1];
      w[j] = Forward ? f : std::conj(f);
    }
    const number* const in = from + p * stride;
    number* const out = to + p * R * stride;
    for (std::size_t q = 0; q < stride; ++q) {
      std::array<number, R> x;
      for (std::size_t j = 0; j < R; ++j) x[j] = in[q + j * step];
      const std::array<number, R> y = butterfly<R, Forward>(x);
      out[q] = y[0];
      for (std::size_t j = 1; j < R; ++j) out[q + j * stride] = times(y[j], w[j]);
    }
  }
}

template <bool Forward>
void run_stage(std::size_t radix, const number* from, number* to, const number* twiddles,
               std::size_t butterflies, std::size_t stride) {
  switch (radix) {
    case 2:
      return run_stage<2, Forward>(from, to, twiddles, butterflies, stride);
    case 3:
      return run_stage<3, Forward>(from, to, twiddles, butterflies, stride);
    case 4:
      return run_stage<4, Forward>(from, to, twiddles, butterflies, stride);
    default:
      return run_stage<5, Forward>(from, to, twiddles, butterflies, stride);
  }
}

}  // namespace

bool has_small_factors(std::size_t n) {
  for (const std::size_t r : {2U, 3U, 5U}) {
    while (n != 0 && n % r == 0) n /= r;
  }
  return n == 1;
}

number root_of_unity(std::size_t k, std::size_t n, int sign) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

line_transform::line_transform(std::size_t n) : n_(n) {
  std::size_t rest = n;
  for (const std::size_t radix : factors(n)) {
    stage s{radix, {}};
    for (std::size_t p = 0; p < rest / radix; ++p) {
      for (std::size_t j = 1; j < radix; ++j) s.twiddles.push_back(root_of_unity(p * j, rest, -1));
    }
    stages_.push_back(std::move(s));
    rest /= radix;
  }
}

void line_transform::operator()(number* data, number* scratch, std::size_t batch,
                                bool forward) const {
  number* from = data;
  number* to = scratch;
  std::size_t stride = batch;
  std::size_t rest = n_;
  for (const stage& s : stages_) {
    rest /= s.radix;
    const auto run = forward ? run_stage<true> : run_stage<false>;
    run(s.radix, from, to, s.twiddles.data(), rest, stride);
    stride *= s.radix;
    std::swap(from, to);
  }
  if (from != data) std::copy_n(from, n_ * batch, data);
}

}  // namespace fft
