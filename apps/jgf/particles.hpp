// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace jgf {

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
  vec3& operator*=(double factor) {
    x *= factor;
    y *= factor;
    z *= factor;
    return *this;
  }
  [[nodiscard]] double square() const { return x * x + y * y + z * z; }
};

// The forces of one member's pairs of particles, and the sums over these pairs.
struct pair_forces {
  std::vector<vec3> on;
  double potential = 0;
  double virial = 0;
};

// Particles of argon, or rather of Lennard-Jones's potential, in a periodic cube. Units are those
// of the benchmark: a velocity is the distance of a time step.
class particles {
 public:
  static constexpr double density = 0.83134;
  static constexpr double temperature = 0.722;
  static constexpr double time_step = 0.064;

  // 4 * cells^3 particles on a face-centred lattice, with random velocities.
  explicit particles(int cells);
  [[nodiscard]] std::size_t size() const { return position_.size(); }

  // Moves particle i by its velocity and force.
  void move(std::size_t i);
  // Adds the forces of particle i and all particles after it.
  void add_forces(std::size_t i, pair_forces& forces) const;
  // Sets the force of particle i, and lets it change the velocity. Returns the square of the
  // velocity.
  double accelerate(std::size_t i, const vec3& force);
  void scale_velocity(std::size_t i, double factor) { velocity_[i] *= factor; }

  // The temperature that corresponds to a sum of squares of velocities, in units of time_step^2.
  [[nodiscard]] double temperature_of(double squares) const { return temperature_scale_ * squares; }

 private:
  void place_on_lattice(int cells);
  void choose_velocities();

  double side_;
  double cutoff_;
  double temperature_scale_;
  std::vector<vec3> position_;
  std::vector<vec3> velocity_;
  std::vector<vec3> force_;
};

}  // namespace jgf
