// SPDX-License-Identifier: Apache-2.0

// C = A B by divide and conquer: the longest of the three extents is halved until a block fits into
// the first-level cache. Halves of rows or columns write different blocks of C and run in parallel.
// Halves of the inner extent write the same block and run one after the other.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

struct extents {
  int rows, columns, inner;
};

// A block of a matrix that is stored row by row.
struct part {
  double* data;
  std::ptrdiff_t stride;

  [[nodiscard]] double* row(int i) const { return data + i * stride; }
  [[nodiscard]] part at(int i, int j) const { return {row(i) + j, stride}; }
};

// Uses four rows of B at a time, so that a row of C is loaded and stored only once for them.
void multiply_leaf(part c, part a, part b, extents e) {
  for (int i = 0; i < e.rows; ++i) {
    double* const to = c.row(i);
    const double* const factor = a.row(i);
    int k = 0;
    for (; k + 4 <= e.inner; k += 4) {
      const double *b0 = b.row(k), *b1 = b.row(k + 1), *b2 = b.row(k + 2), *b3 = b.row(k + 3);
      for (int j = 0; j < e.columns; ++j) {
        to[j] += factor[k] * b0[j] + factor[k + 1] * b1[j] + factor[k + 2] * b2[j] +
                 factor[k + 3] * b3[j];
      }
    }
    for (; k < e.inner; ++k) {
      for (int j = 0; j < e.columns; ++j) to[j] += factor[k] * b.row(k)[j];
    }
  }
}

// How two halves are run: as tasks, or here one after the other.
struct as_tasks {
  template <class F, class G>
  static void both(F f, G g) {
    apgas::fork_join(f, g);
  }
};
struct in_order {
  template <class F, class G>
  static void both(F f, G g) {
    f();
    g();
  }
};

template <class Order>
void multiply(part c, part a, part b, extents e, int leaf) {
  const auto [rows, columns, inner] = e;
  if (rows <= leaf && columns <= leaf && inner <= leaf) return multiply_leaf(c, a, b, e);
  if (rows >= columns && rows >= inner) {
    const int half = rows / 2;
    Order::both([=] { multiply<Order>(c, a, b, {half, e.columns, e.inner}, leaf); },
                [=] {
                  multiply<Order>(c.at(half, 0), a.at(half, 0), b,
                                  {e.rows - half, e.columns, e.inner}, leaf);
                });
  } else if (columns >= inner) {
    const int half = columns / 2;
    Order::both([=] { multiply<Order>(c, a, b, {e.rows, half, e.inner}, leaf); },
                [=] {
                  multiply<Order>(c.at(0, half), a, b.at(0, half),
                                  {e.rows, e.columns - half, e.inner}, leaf);
                });
  } else {
    const int half = inner / 2;
    multiply<Order>(c, a, b, {rows, columns, half}, leaf);
    multiply<Order>(c, a.at(0, half), b.at(half, 0), {rows, columns, inner - half}, leaf);
  }
}

class matrix {
 public:
  explicit matrix(int n)
      : n_(n), data_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {}

  // Small integers, so that the sums of their products are exact, and so is the check.
  void fill(std::uint64_t seed) {
    std::uint64_t x = seed;
    for (double& value : data_) {
      x = x * 6364136223846793005U + 1442695040888963407U;
      value = static_cast<double>(x >> 60U) - 8;
    }
  }

  [[nodiscard]] part all() { return {data_.data(), n_}; }

  [[nodiscard]] std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < x.size(); ++j) sum += data_[i * x.size() + j] * x[j];
      y.push_back(sum);
    }
    return y;
  }

 private:
  int n_;
  std::vector<double> data_;
};

// Freivalds' check: A (B x) = C x, for two random x. All numbers are integers below 2^53, so
// equality is exact. A wrong C passes with a probability below 2^-30.
bool is_product(const matrix& c, const matrix& a, const matrix& b, int n) {
  std::uint64_t state = 2013;
  for (int probe = 0; probe < 2; ++probe) {
    std::vector<double> x;
    for (int i = 0; i < n; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      x.push_back(static_cast<double>(state >> 48U));
    }
    if (a.times(b.times(x)) != c.times(x)) return false;
  }
  return true;
}

int multiply_and_report(const std::string& variant, int n, int leaf) {
  matrix a(n);
  matrix b(n);
  matrix c(n);
  a.fill(1);
  b.fill(2);
  const apps::stopwatch clock;
  if (variant == "serial") {
    multiply<in_order>(c.all(), a.all(), b.all(), {n, n, n}, leaf);
  } else {
    multiply<as_tasks>(c.all(), a.all(), b.all(), {n, n, n}, leaf);
  }
  const double seconds = clock.seconds();
  return apps::report("matmul", seconds, is_product(c, a, b, n),
                      {{"variant", variant}, {"n", n}, {"gflops", 2e-9 * n * n * n / seconds}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 1024;
  int leaf = 32;
  std::string variant = "fork_join";
  apps::command_line line("matmul", "Multiplies two square matrices by divide and conquer.");
  line.option("-n,--n", n, 1, 1'000'000, "rows and columns");
  line.option("--leaf", leaf, 1, 16384, "extent of a block that is not divided");
  line.choice("--variant", variant, {"fork_join", "serial"}, "how to run the halves");
  if (const auto code = line.parse(argc, argv)) return *code;
  if (const auto problem = apps::beyond_memory(3.0 * sizeof(double) * n * n); !problem.empty()) {
    return line.refuse("--n: " + problem + "; choose fewer rows");
  }
  return apgas::run(argc, argv, [&] { return multiply_and_report(variant, n, leaf); });
}
