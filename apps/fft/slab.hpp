// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transform of three dimensions in slabs: the steps of one place between which the data are
// exchanged. Does not use the library, so that the program in plain MPI (apps/peers) does the same.
//
// Forward, a place has the planes [x][y][z] of its share of the x. It transforms along z and y and
// packs the blocks of all places, [place][x][y][z]. After an all-to-all exchange it has [x][y][z]
// for all x and its share of the y, and transforms along x. The result stays in this form, and
// backward goes the same way in reverse.

#include <complex>
#include <cstddef>
#include <vector>

#include "fft/kernel.hpp"
#include "support/memory.hpp"

namespace fft {

// The points in each direction, and the places. x and y are multiples of the number of places.
struct shape {
  std::size_t x;
  std::size_t y;
  std::size_t z;
  std::size_t places;

  [[nodiscard]] std::size_t points() const { return x * y * z; }
  [[nodiscard]] std::size_t my_x() const { return x / places; }
  [[nodiscard]] std::size_t my_y() const { return y / places; }
  [[nodiscard]] std::size_t local() const { return points() / places; }
  // The memory that the places of the host of place 0 need together, in bytes: points,
  // coefficients, and two copies on the way.
  [[nodiscard]] double bytes(const apps::placement& all) const {
    return 4.0 * sizeof(number) * static_cast<double>(points()) * all.part_on_host();
  }
};

class slab {
 public:
  explicit slab(const shape& s) : shape_(s), along_x_(s.x), along_y_(s.y), along_z_(s.z) {}

  // The number of plane(i, ...), one for each x of this place, and of column(i, ...), one for each
  // y of this place. Those of different i may run in parallel.
  [[nodiscard]] std::size_t planes() const { return shape_.my_x(); }
  [[nodiscard]] std::size_t columns() const { return shape_.my_y(); }

  // Transforms plane i of `data` along z and y, and packs it into `packed`.
  void plane_forward(std::size_t i, number* data, number* packed) const;
  // The inverse: unpacks plane i and transforms it along y and z.
  void plane_backward(std::size_t i, const number* packed, number* data) const;
  // Transforms the points of the i-th y of this place along x, in the form [x][y][z].
  void column(std::size_t i, number* data, bool forward) const;

 private:
  // The block of `packed` for a place, at plane i.
  [[nodiscard]] std::size_t packed_at(std::size_t place, std::size_t i) const {
    return (place * shape_.my_x() + i) * shape_.my_y() * shape_.z;
  }

  shape shape_;
  line_transform along_x_;
  line_transform along_y_;
  line_transform along_z_;
};

}  // namespace fft
