// SPDX-License-Identifier: Apache-2.0

// LU decomposition without pivoting, in place, by recursion over quadrants. The algorithm is that
// of the example in Cilk 5.4.6:
//
//   A00 A01      L00          U00 U01      decompose A00, solve for U01 and L10 in parallel,
//   subtract A10 A11  =   L10 L11  x       U11      L10 U01 from A11 (the Schur complement),
//   decompose that.
//
// The matrix is stored as blocks of 16 x 16, which are the leaves.

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/greatest.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

constexpr std::size_t block_size = 16;
using block = std::array<std::array<double, block_size>, block_size>;

// A square submatrix, `size` blocks wide.
struct part {
  block* first;
  std::size_t stride;
  std::size_t size;

  [[nodiscard]] part quadrant(std::size_t i, std::size_t j) const {
    const std::size_t half = size / 2;
    return {first + i * half * stride + j * half, stride, half};
  }
};

// ---- leaves

void decompose_block(block& a) {
  for (std::size_t k = 0; k < block_size; ++k) {
    for (std::size_t i = k + 1; i < block_size; ++i) {
      const double factor = a[i][k] /= a[k][k];
      for (std::size_t j = k + 1; j < block_size; ++j) a[i][j] -= factor * a[k][j];
    }
  }
}

// b := inverse of unit lower triangle l, times b.
void solve_lower_block(block& b, const block& l) {
  for (std::size_t i = 1; i < block_size; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      for (std::size_t j = 0; j < block_size; ++j) b[i][j] -= l[i][k] * b[k][j];
    }
  }
}

void solve_upper_block(block& b, const block& u) {  // b := b times inverse of upper triangle u
  for (std::size_t i = 0; i < block_size; ++i) {
    for (std::size_t k = 0; k < block_size; ++k) {
      const double factor = b[i][k] /= u[k][k];
      for (std::size_t j = k + 1; j < block_size; ++j) b[i][j] -= factor * u[k][j];
    }
  }
}

void subtract_product_block(block& c, const block& a, const block& b) {
  for (std::size_t i = 0; i < block_size; ++i) {
    std::array<double, block_size> row = c[i];  // stays in registers
    for (std::size_t k = 0; k < block_size; ++k) {
      for (std::size_t j = 0; j < block_size; ++j) row[j] -= a[i][k] * b[k][j];
    }
    c[i] = row;
  }
}

// ---- recursion; Order says whether independent halves run as tasks

struct as_tasks {
  template <class... F>
  static void all(F... f) {
    apgas::fork_join(f...);
  }
};
struct in_order {
  template <class... F>
  static void all(F... f) {
    (f(), ...);
  }
};

template <class Order>
void subtract_product(part c, part a, part b) {
  if (c.size == 1) return subtract_product_block(*c.first, *a.first, *b.first);
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    const auto piece = [=](std::size_t i, std::size_t j) {
      return [=] { subtract_product<Order>(c.quadrant(i, j), a.quadrant(i, k), b.quadrant(k, j)); };
    };
    Order::all(piece(0, 0), piece(0, 1), piece(1, 0), piece(1, 1));
  }
}

template <class Order>
void solve_lower(part b, part l) {
  if (b.size == 1) return solve_lower_block(*b.first, *l.first);
  const auto column = [=](std::size_t j) {
    return [=] {
      solve_lower<Order>(b.quadrant(0, j), l.quadrant(0, 0));
      subtract_product<Order>(b.quadrant(1, j), l.quadrant(1, 0), b.quadrant(0, j));
      solve_lower<Order>(b.quadrant(1, j), l.quadrant(1, 1));
    };
  };
  Order::all(column(0), column(1));
}

template <class Order>
void solve_upper(part b, part u) {
  if (b.size == 1) return solve_upper_block(*b.first, *u.first);
  const auto row = [=](std::size_t i) {
    return [=] {
      solve_upper<Order>(b.quadrant(i, 0), u.quadrant(0, 0));
      subtract_product<Order>(b.quadrant(i, 1), b.quadrant(i, 0), u.quadrant(0, 1));
      solve_upper<Order>(b.quadrant(i, 1), u.quadrant(1, 1));
    };
  };
  Order::all(row(0), row(1));
}

template <class Order>
void decompose(part a) {
  if (a.size == 1) return decompose_block(*a.first);
  decompose<Order>(a.quadrant(0, 0));
  Order::all([=] { solve_lower<Order>(a.quadrant(0, 1), a.quadrant(0, 0)); },
             [=] { solve_upper<Order>(a.quadrant(1, 0), a.quadrant(0, 0)); });
  subtract_product<Order>(a.quadrant(1, 1), a.quadrant(1, 0), a.quadrant(0, 1));
  decompose<Order>(a.quadrant(1, 1));
}

// ---- the matrix

class matrix {
 public:
  explicit matrix(std::size_t n) : blocks_((n / block_size) * (n / block_size)), n_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) at(i, j) = original(i, j);
    }
  }

  [[nodiscard]] part all() { return {blocks_.data(), n_ / block_size, n_ / block_size}; }

  [[nodiscard]] std::vector<double> original_times(const std::vector<double>& x) const {
    return product([this](std::size_t i, std::size_t j) { return original(i, j); }, x);
  }
  [[nodiscard]] std::vector<double> upper_times(const std::vector<double>& x) const {
    return product([this](std::size_t i, std::size_t j) { return i <= j ? at(i, j) : 0; }, x);
  }
  [[nodiscard]] std::vector<double> lower_times(const std::vector<double>& x) const {
    const auto lower = [this](std::size_t i, std::size_t j) {
      return i == j ? 1.0 : i > j ? at(i, j) : 0.0;
    };
    return product(lower, x);
  }

 private:
  // Random numbers in [0, 1) and a dominant diagonal, so that no pivoting is needed.
  [[nodiscard]] double original(std::size_t i, std::size_t j) const {
    std::uint64_t x = (i * n_ + j + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    const double random = std::ldexp(static_cast<double>(x >> 11U), -53);
    return i == j ? random + static_cast<double>(n_) : random;
  }
  [[nodiscard]] const double& at(std::size_t i, std::size_t j) const {
    const block& b = blocks_[i / block_size * (n_ / block_size) + j / block_size];
    return b[i % block_size][j % block_size];
  }
  [[nodiscard]] double& at(std::size_t i, std::size_t j) {
    return const_cast<double&>(static_cast<const matrix&>(*this).at(i, j));
  }

  template <class Element>
  [[nodiscard]] std::vector<double> product(Element element, const std::vector<double>& x) const {
    std::vector<double> y(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) y[i] += element(i, j) * x[j];
    }
    return y;
  }

  std::vector<block> blocks_;
  std::size_t n_;
};

// The distance of L (U x) from A x, in units of the expected rounding error, for a dense x.
double relative_error(const matrix& decomposed, std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<double>(i + 1));
  const std::vector<double> wanted = decomposed.original_times(x);
  const std::vector<double> found = decomposed.lower_times(decomposed.upper_times(x));
  const double worst = apps::greatest_difference(wanted, found);
  return worst / static_cast<double>(n);  // the norm of A is about 1.5 n
}

int decompose_and_report(const std::string& variant, int n) {
  const auto size = static_cast<std::size_t>(n);
  matrix a(size);
  const apps::stopwatch clock;
  if (variant == "serial") {
    decompose<in_order>(a.all());
  } else {
    decompose<as_tasks>(a.all());
  }
  const double seconds = clock.seconds();
  const double error = relative_error(a, size);
  return apps::report("lu", seconds, error < 1e-13,
                      {{"variant", variant},
                       {"n", n},
                       {"relative_error", error},
                       {"gflops", 2e-9 / 3 * n * n * n / seconds}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 1024;
  std::string variant = "fork_join";
  apps::command_line line("lu", "Decomposes a random matrix into lower and upper triangle.");
  line.option("-n,--n", n, static_cast<int>(block_size), 1 << 20,
              "rows and columns: a power of two");
  line.choice("--variant", variant, {"fork_join", "serial"}, "how to run independent parts");
  if (const auto code = line.parse(argc, argv)) return *code;
  if (!std::has_single_bit(static_cast<unsigned>(n))) {
    return line.refuse("--n: " + std::to_string(n) + " is not a power of two");
  }
  if (const auto problem = apps::beyond_memory(1.0 * sizeof(double) * n * n); !problem.empty()) {
    return line.refuse("--n: " + problem + "; choose fewer rows");
  }
  return apgas::run(argc, argv, [&] { return decompose_and_report(variant, n); });
}
