// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <span>

#include "stream/triad.hpp"
#include "support/stopwatch.hpp"

namespace stream {
namespace {

// The results are integers below 2^53, and so exact.
double b_of(std::ptrdiff_t i) { return static_cast<double>(i); }
double c_of(std::ptrdiff_t i) { return static_cast<double>(i % 1021); }

class triad {
 public:
  triad(const apps::loop_form& form, std::size_t n)
      : form_(form),
        n_(n),
        a_(std::make_unique_for_overwrite<double[]>(n)),
        b_(std::make_unique_for_overwrite<double[]>(n)),
        c_(std::make_unique_for_overwrite<double[]>(n)) {
    // The workers first touch the memory that they are going to use.
    form_.each_chunk(n_, [this](std::size_t, apps::range r) {
      for (auto i = r.first; i < r.last; ++i) {
        const auto k = static_cast<std::size_t>(i);
        a_[k] = -1;
        b_[k] = b_of(i);
        c_[k] = c_of(i);
      }
    });
  }

  void compute(double scalar) {
    form_.each_chunk(n_, [this, scalar](std::size_t, apps::range r) {
      double* const a = a_.get();
      const double* const b = b_.get();
      const double* const c = c_.get();
      for (auto i = r.first; i < r.last; ++i) a[i] = b[i] + scalar * c[i];
    });
  }

  [[nodiscard]] std::span<const double> result() const { return {a_.get(), n_}; }

 private:
  const apps::loop_form& form_;
  std::size_t n_;
  std::unique_ptr<double[]> a_;
  std::unique_ptr<double[]> b_;
  std::unique_ptr<double[]> c_;
};

}  // namespace

std::int64_t wrong_elements(std::span<const double> a, double scalar) {
  std::int64_t count = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto i = static_cast<std::ptrdiff_t>(k);
    count += a[k] != b_of(i) + scalar * c_of(i) ? 1 : 0;
  }
  return count;
}

triad_outcome compute_triad(apps::loop_form& form, std::int64_t words, int rounds) {
  triad_outcome o;
  form.run([&] {
    triad t(form, static_cast<std::size_t>(words));
    for (int round = 1; round <= rounds; ++round) {
      const apps::stopwatch clock;
      t.compute(round);
      o.seconds += clock.seconds();
      o.wrong += wrong_elements(t.result(), round);
    }
  });
  return o;
}

}  // namespace stream
