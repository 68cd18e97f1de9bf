// SPDX-License-Identifier: Apache-2.0
#pragma once

// A slab of the cube: the link cells whose x is in the share of one place, and the steps between
// which places exchange messages. Does not use the library, so that the program in plain MPI
// (apps/peers) does the same.
//
// The cells with the same x and y form a row, which is the unit of work: calls for different rows
// of the same step may run in parallel. The atoms of a row are in the order of their cells and,
// within a cell, of their ids. So every sum has an order that depends on neither the number of
// slabs nor the order in which the rows are worked on, and all variants agree bit by bit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comd/model.hpp"

namespace comd {

// A direction along x, as an index: to or from the slab below, or above.
enum side : std::size_t { below = 0, above = 1 };
template <class T>
using both_sides = std::array<std::vector<T>, 2>;

// An atom that has left its row: by how many cells along x, and for which row.
struct leaver {
  atom moved;
  std::int32_t to_x = 0;
  std::uint32_t to_y = 0;
};

struct energies {
  double potential = 0;
  double kinetic = 0;
  double of_forces = 0;  // time_step^2 / (24 mass) times the squares of the forces

  [[nodiscard]] double total() const { return potential + kinetic; }
  energies& operator+=(const energies& o) {
    potential += o.potential;
    kinetic += o.kinetic;
    of_forces += o.of_forces;
    return *this;
  }
};

// The positions of a row's atoms, with those of the first and the last cell repeated beyond the
// other end, where their periodic images are.
struct row_image {
  std::vector<std::uint32_t> first;  // of each cell, with the two repeated ones; and the end
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z;
};

class slab {
 public:
  // The planes [first, last) of link cells along x, with their atoms out of `all`.
  slab(const cube& c, std::uint32_t first, std::uint32_t last, const std::vector<atom>& all);

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  // Step 1: accelerates the atoms of a row for half a time step, moves them, and sets aside
  // those that have left the row. Then leavers() go to the slabs below and above.
  void move(std::size_t row);
  [[nodiscard]] both_sides<leaver> leavers() const;
  void take_arrivals(both_sides<leaver> from) { arrivals_ = std::move(from); }

  // Step 2: takes in the atoms that have come to a row, and sorts all of them. Then the positions
  // in the outermost planes, boundary(), go to the slabs below and above, which keep them as halo.
  void take_in(std::size_t row);
  [[nodiscard]] both_sides<double> boundary() const;
  void take_halo(const both_sides<double>& from);

  // Step 3: computes the forces on the atoms of a row, and accelerates them for the given time.
  void accelerate(std::size_t row, double time);

  // The energies of each plane, in the order of the planes.
  [[nodiscard]] std::vector<energies> plane_energies() const;
  [[nodiscard]] std::vector<atom> atoms() const;

 private:
  struct row_of_cells {
    std::vector<atom> atoms;
    std::vector<leaver> leaving;
    energies sum;
  };

  [[nodiscard]] std::uint32_t planes() const { return last_ - first_; }
  // The image of a row; `plane` counts from the halo below, which is 0.
  [[nodiscard]] std::size_t image_at(std::size_t plane, std::uint32_t y) const {
    return plane * cube_.cells() + y;
  }
  void add_arrivals(std::size_t row);
  void make_image(std::size_t row);

  cube cube_;
  std::uint32_t first_;
  std::uint32_t last_;
  std::vector<row_of_cells> rows_;  // [x][y]
  std::vector<row_image> images_;   // [x][y], with the halos
  both_sides<leaver> arrivals_;
};

}  // namespace comd
