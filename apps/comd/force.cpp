// SPDX-License-Identifier: Apache-2.0

// The forces on the atoms of a row. The atoms of the 27 cells around a cell are gathered once for
// all atoms of the cell. For each atom, the pairs within the cutoff are then selected without
// branches, and only these are computed.

#include <algorithm>
#include <array>

#include "comd/slab.hpp"

namespace comd {
namespace {

class surroundings {
 public:
  void clear() { size_ = 0; }

  // Adds three adjacent cells of a row, shifted to where their periodic images are.
  void add(const row_image& row, std::uint32_t cell, double shift_x, double shift_y) {
    const std::size_t from = row.first[cell];
    const std::size_t n = row.first[cell + 3] - from;
    if (size_ + n > x_.size()) resize(2 * (size_ + n));
    for (std::size_t i = 0; i < n; ++i) {
      x_[size_ + i] = row.x[from + i] + shift_x;
      y_[size_ + i] = row.y[from + i] + shift_y;
      z_[size_ + i] = row.z[from + i];
    }
    size_ += n;
  }

  // Sets the force on an atom, and returns its share of the potential energy, half of that of its
  // pairs.
  double act_on(atom& a) {
    const vec3 at = a.position;
    const std::size_t n = size_;
    const double* const x = x_.data();
    const double* const y = y_.data();
    const double* const z = z_.data();
    double* const square = square_.data();
    for (std::size_t i = 0; i < n; ++i) {
      const vec3 d{at.x - x[i], at.y - y[i], at.z - z[i]};
      square[i] = d.square();
    }
    std::uint32_t* const close = close_.data();
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < n; ++i) {
      close[pairs] = static_cast<std::uint32_t>(i);
      // The square is zero for the atom itself.
      pairs += static_cast<std::size_t>((square[i] <= cutoff * cutoff) & (square[i] > 0));
    }
    vec3 force;
    double energy = 0;
    for (std::size_t k = 0; k < pairs; ++k) {
      const std::size_t i = close[k];
      const pair p = interact(square[i]);
      energy += p.energy;
      force += p.force * vec3{at.x - x[i], at.y - y[i], at.z - z[i]};
    }
    a.force = force;
    return 0.5 * energy;
  }

 private:
  void resize(std::size_t n) {
    for (auto* values : {&x_, &y_, &z_, &square_}) values->resize(n);
    close_.resize(n + 1);
  }

  std::size_t size_ = 0;
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> z_;
  std::vector<double> square_;  // of the distance from an atom
  std::vector<std::uint32_t> close_;
};

}  // namespace

void slab::accelerate(std::size_t row, double time) {
  const std::size_t plane = row / cube_.cells();
  const std::uint32_t x = first_ + static_cast<std::uint32_t>(plane);
  const auto y = static_cast<std::uint32_t>(row % cube_.cells());
  row_of_cells& own = rows_[row];
  surroundings around;
  own.sum = {};
  std::size_t next = 0;
  for (std::uint32_t z = 0; z < cube_.cells(); ++z) {
    around.clear();
    for (const int to_x : {-1, 0, 1}) {
      const std::size_t image_plane = plane + 1 + static_cast<std::size_t>(to_x);
      for (const int to_y : {-1, 0, 1}) {
        const auto [neighbour, shift_y] = cube_.beside(y, to_y);
        around.add(images_[image_at(image_plane, neighbour)], z, cube_.beside(x, to_x).shift,
                   shift_y);
      }
    }
    for (; next < own.atoms.size() && own.atoms[next].cell_z == z; ++next) {
      atom& a = own.atoms[next];
      own.sum.potential += around.act_on(a);
      a.momentum += time * a.force;
      own.sum.kinetic += kinetic_energy(a.momentum);
      own.sum.of_forces += time_step * time_step / (24 * mass) * a.force.square();
    }
  }
}

}  // namespace comd
