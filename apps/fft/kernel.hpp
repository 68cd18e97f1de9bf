// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fourier transforms of one dimension: the autosort algorithm of Stockham with factors 2, 3, 4 and
// 5. Does not use the library.

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace fft {

using number = std::complex<double>;

// Whether n has no prime factors but 2, 3 and 5.
bool has_small_factors(std::size_t n);

// The transform of n points, which is not normalised: forward then backward multiplies by n.
class line_transform {
 public:
  explicit line_transform(std::size_t n);

  [[nodiscard]] std::size_t size() const { return n_; }

  // Transforms `batch` sequences of n points in place. Point i of sequence b is data[i * batch +
  // b]. `scratch` has as many numbers as `data`, n * batch.
  void operator()(number* data, number* scratch, std::size_t batch, bool forward) const;

 private:
  struct stage {
    std::size_t radix;
    std::vector<number> twiddles;  // for each butterfly, radix - 1 factors
  };

  std::size_t n_;
  std::vector<stage> stages_;
};

// exp(sign * 2 pi i k / n), exact to the last place also for large k.
number root_of_unity(std::size_t k, std::size_t n, int sign);

}  // namespace fft
