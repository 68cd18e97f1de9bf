// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npb/grid.hpp"

namespace npb {
namespace {

// Sums of the points around each point of a line, in the plane across the line: the four that
// differ from it in one coordinate, and the four that differ in two.
void add_across(const grid& g, std::ptrdiff_t plane, std::ptrdiff_t line, line_sums& sums) {
  const double* const before = g.line(plane, line - 1);
  const double* const after = g.line(plane, line + 1);
  const double* const below = g.line(plane - 1, line);
  const double* const above = g.line(plane + 1, line);
  const double* const below_before = g.line(plane - 1, line - 1);
  const double* const below_after = g.line(plane - 1, line + 1);
  const double* const above_before = g.line(plane + 1, line - 1);
  const double* const above_after = g.line(plane + 1, line + 1);
  double* const faces = sums.faces.data();
  double* const edges = sums.edges.data();
  const std::ptrdiff_t length = g.size() + 2;
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    faces[i] = before[i] + after[i] + below[i] + above[i];
    edges[i] = below_before[i] + below_after[i] + above_before[i] + above_after[i];
  }
}

}  // namespace

void grid::clear(std::ptrdiff_t plane) { std::fill_n(line(plane, 0), plane_size(), 0.0); }

void grid::update_copies(std::ptrdiff_t plane) {
  for (std::ptrdiff_t j = 1; j <= n_; ++j) {
    double* const points = line(plane, j);
    points[0] = points[n_];
    points[n_ + 1] = points[1];
  }
  std::copy_n(line(plane, n_), n_ + 2, line(plane, 0));
  std::copy_n(line(plane, 1), n_ + 2, line(plane, n_ + 1));
}

double grid::sum_of_squares(std::ptrdiff_t plane) const {
  double sum = 0;
  for (std::ptrdiff_t j = 1; j <= n_; ++j) {
    const double* const points = line(plane, j);
    for (std::ptrdiff_t i = 1; i <= n_; ++i) sum += points[i] * points[i];
  }
  return sum;
}

void subtract_product(grid& r, const grid& v, const grid& u, const stencil& a, std::ptrdiff_t plane,
                      line_sums& sums) {
  const std::ptrdiff_t n = r.size();
  const double* const faces = sums.faces.data();
  const double* const edges = sums.edges.data();
  for (std::ptrdiff_t j = 1; j <= n; ++j) {
    add_across(u, plane, j, sums);
    const double* const from = v.line(plane, j);
    const double* const by = u.line(plane, j);
    double* const to = r.line(plane, j);
    for (std::ptrdiff_t i = 1; i <= n; ++i) {
      to[i] = from[i] - a.centre * by[i] - a.edge * (edges[i] + faces[i - 1] + faces[i + 1]) -
              a.corner * (edges[i - 1] + edges[i + 1]);
    }
  }
  r.update_copies(plane);
}

void smooth(grid& u, const grid& r, const stencil& s, std::ptrdiff_t plane, line_sums& sums) {
  const std::ptrdiff_t n = u.size();
  const double* const faces = sums.faces.data();
  const double* const edges = sums.edges.data();
  for (std::ptrdiff_t j = 1; j <= n; ++j) {
    add_across(r, plane, j, sums);
    const double* const by = r.line(plane, j);
    double* const to = u.line(plane, j);
    for (std::ptrdiff_t i = 1; i <= n; ++i) {
      to[i] += s.centre * by[i] + s.face * (by[i - 1] + by[i + 1] + faces[i]) +
               s.edge * (edges[i] + faces[i - 1] + faces[i + 1]);
    }
  }
  u.update_copies(plane);
}

// Point i of the coarse grid is at point 2 i of the fine one. The planes count from 0.
void restrict_to(grid& coarse, const grid& fine, std::ptrdiff_t plane, line_sums& sums) {
  const std::ptrdiff_t n = coarse.size();
  const double* const faces = sums.faces.data();
  const double* const edges = sums.edges.data();
  for (std::ptrdiff_t j = 1; j <= n; ++j) {
    add_across(fine, 2 * plane + 1, 2 * j, sums);
    const double* const from = fine.line(2 * plane + 1, 2 * j);
    double* const to = coarse.line(plane, j);
    for (std::ptrdiff_t i = 1; i <= n; ++i) {
      const std::ptrdiff_t c = 2 * i;
      to[i] = 0.5 * from[c] + 0.25 * (from[c - 1] + from[c + 1] + faces[c]) +
              0.125 * (faces[c - 1] + faces[c + 1] + edges[c]) +
              0.0625 * (edges[c - 1] + edges[c + 1]);
    }
  }
  coarse.update_copies(plane);
}

void add_interpolation(grid& fine, const grid& coarse, std::ptrdiff_t plane, line_sums& sums) {
  const std::ptrdiff_t n = coarse.size();
  // The coarse planes, and below the coarse lines, on both sides; the same one twice if the fine
  // one coincides with it.
  const std::ptrdiff_t low_plane = (plane + 1) / 2 - 1;
  const std::ptrdiff_t high_plane = plane / 2;
  double* const mean = sums.faces.data();
  for (std::ptrdiff_t j = 1; j <= fine.size(); ++j) {
    const double* const a = coarse.line(low_plane, j / 2);
    const double* const b = coarse.line(low_plane, (j + 1) / 2);
    const double* const c = coarse.line(high_plane, j / 2);
    const double* const d = coarse.line(high_plane, (j + 1) / 2);
    for (std::ptrdiff_t i = 0; i <= n + 1; ++i) mean[i] = 0.25 * (a[i] + b[i] + c[i] + d[i]);
    double* const to = fine.line(plane, j);
    for (std::ptrdiff_t i = 1; i <= n; ++i) {
      to[2 * i - 1] += 0.5 * (mean[i - 1] + mean[i]);
      to[2 * i] += mean[i];
    }
  }
  fine.update_copies(plane);
}

}  // namespace npb
