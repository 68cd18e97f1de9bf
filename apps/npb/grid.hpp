// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace npb {

// A cube of n^3 points, periodic in all directions, and the operations of MG on one plane of it. In
// a plane the points of each line are 1 .. n, and so are the lines. Points and lines 0 and n + 1
// are copies of those at the other end; update_copies() sets them. The planes are 0 .. n - 1. The
// index of a plane may also be -1 or n, which is the plane at the other end.
class grid {
 public:
  explicit grid(std::ptrdiff_t n) : n_(n), points_(static_cast<std::size_t>(n * plane_size())) {}
  [[nodiscard]] std::ptrdiff_t size() const { return n_; }

  [[nodiscard]] double* line(std::ptrdiff_t plane, std::ptrdiff_t line) {
    return points_.data() + offset(plane, line);
  }
  [[nodiscard]] const double* line(std::ptrdiff_t plane, std::ptrdiff_t line) const {
    return points_.data() + offset(plane, line);
  }
  void clear(std::ptrdiff_t plane);
  void update_copies(std::ptrdiff_t plane);
  [[nodiscard]] double sum_of_squares(std::ptrdiff_t plane) const;

 private:
  [[nodiscard]] std::ptrdiff_t plane_size() const { return (n_ + 2) * (n_ + 2); }
  [[nodiscard]] std::ptrdiff_t offset(std::ptrdiff_t plane, std::ptrdiff_t line) const {
    return (plane + n_) % n_ * plane_size() + line * (n_ + 2);
  }

  std::ptrdiff_t n_;
  std::vector<double> points_;
};

// Weights of a point, and of the neighbours that differ from it in one, two and three coordinates.
struct stencil {
  double centre;
  double face;
  double edge;
  double corner;
};

// Space for the sums of a line that several of its points use. Each member has its own.
struct line_sums {
  explicit line_sums(std::ptrdiff_t n)
      : faces(static_cast<std::size_t>(n + 2)), edges(static_cast<std::size_t>(n + 2)) {}
  std::vector<double> faces;
  std::vector<double> edges;
};

// Each of these computes one plane of its first grid, together with the copies in the plane.
// r = v - A u, where A has no weight for faces. r and v may be the same grid.
void subtract_product(grid& r, const grid& v, const grid& u, const stencil& a, std::ptrdiff_t plane,
                      line_sums& sums);
// u += S r, where S has no weight for corners.
void smooth(grid& u, const grid& r, const stencil& s, std::ptrdiff_t plane, line_sums& sums);
// Restricts a grid to one with half as many points in each direction.
void restrict_to(grid& coarse, const grid& fine, std::ptrdiff_t plane, line_sums& sums);
// Adds a trilinear interpolation of a grid with half as many points in each direction.
void add_interpolation(grid& fine, const grid& coarse, std::ptrdiff_t plane, line_sums& sums);

}  // namespace npb
