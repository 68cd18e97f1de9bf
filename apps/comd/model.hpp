// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model of CoMD: copper atoms that interact by the Lennard-Jones potential in a periodic cube.
// Lengths are in angstroms, times in femtoseconds, energies in electronvolts. Does not use the
// library.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace comd {

struct vec3 {
  double x = 0;
  double y = 0;
  double z = 0;

  vec3& operator+=(const vec3& o) {
    x += o.x;
    y += o.y;
    z += o.z;
    return *this;
  }
  friend vec3 operator-(const vec3& a, const vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend vec3 operator*(double factor, const vec3& v) {
    return {factor * v.x, factor * v.y, factor * v.z};
  }
  [[nodiscard]] double square() const { return x * x + y * y + z * z; }
};

// The values of CoMD for copper.
inline constexpr double epsilon = 0.167;
inline constexpr double sigma = 2.315;
inline constexpr double cutoff = 2.5 * sigma;
inline constexpr double lattice_constant = 3.615;
inline constexpr double mass = 63.55 * 103.642690;  // eV fs^2 / angstrom^2
inline constexpr double boltzmann = 8.6173324e-5;   // eV / K
inline constexpr double temperature = 600;          // K, at the start
inline constexpr double time_step = 1;
// The energy of an atom at the start, as CoMD publishes it.
inline constexpr double published_energy = -1.166063303478;

// The Lennard-Jones potential of a pair of atoms, shifted so that it is zero at the cutoff.
struct pair {
  double energy;
  double force;  // divided by the distance; positive if the atoms repel each other
};
constexpr double power_of_ratio(double square) {  // (sigma / distance)^6
  const double r2 = sigma * sigma / square;
  return r2 * r2 * r2;
}
constexpr pair interact(double square) {
  constexpr double at_cutoff = power_of_ratio(cutoff * cutoff);
  constexpr double shift = at_cutoff * (at_cutoff - 1);
  const double r6 = power_of_ratio(square);
  return {4 * epsilon * (r6 * (r6 - 1) - shift), 24 * epsilon * r6 * (2 * r6 - 1) / square};
}

struct atom {
  vec3 position;
  vec3 momentum;
  vec3 force;
  std::uint32_t id = 0;
  std::uint32_t cell_z = 0;  // the link cell along z
};

// The cube, and the link cells into which it is divided. A link cell is at least as wide as the
// cutoff, so that an atom interacts with the atoms of its own and of the 26 adjacent cells only.
class cube {
 public:
  // `lattice` is the number of unit cells of the lattice along each edge, at least 4.
  explicit cube(int lattice)
      : lattice_(static_cast<std::uint32_t>(lattice)),
        edge_(lattice * lattice_constant),
        cells_(static_cast<std::uint32_t>(edge_ / cutoff)),
        cell_edge_(edge_ / cells_) {}

  [[nodiscard]] double edge() const { return edge_; }
  [[nodiscard]] std::uint32_t cells() const { return cells_; }  // along each edge
  [[nodiscard]] std::uint32_t atoms() const { return 4 * lattice_ * lattice_ * lattice_; }

  // The position of an atom on the face-centred lattice.
  [[nodiscard]] vec3 lattice_position(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t cell_of(double coordinate) const {
    return static_cast<std::uint32_t>(coordinate / cell_edge_);
  }
  // Whether a coordinate has left its cell downwards (-1), upwards (1) or not (0).
  [[nodiscard]] int left_cell(double coordinate, std::uint32_t cell) const {
    if (coordinate < cell * cell_edge_) return -1;
    return coordinate >= (cell + 1) * cell_edge_ ? 1 : 0;
  }
  // The adjacent cell, and the distance from a coordinate in the cube to its periodic image that
  // adjoins it there.
  struct neighbour {
    std::uint32_t cell;
    double shift;
  };
  [[nodiscard]] neighbour beside(std::uint32_t cell, int direction) const {
    if (direction < 0 && cell == 0) return {cells_ - 1, -edge_};
    if (direction > 0 && cell == cells_ - 1) return {0, edge_};
    return {cell + static_cast<std::uint32_t>(direction), 0};
  }

 private:
  std::uint32_t lattice_;
  double edge_;
  std::uint32_t cells_;
  double cell_edge_;
};

inline double kinetic_energy(const vec3& momentum) { return momentum.square() / (2 * mass); }

// All atoms at the start, in the order of their ids: on the lattice, with the momenta of Maxwell's
// distribution. The total momentum is zero, and the temperature is exactly that of the model. The
// momentum of an atom depends on the seed and its id only, before these two corrections.
std::vector<atom> initial_atoms(const cube& c, std::uint64_t seed);

}  // namespace comd
