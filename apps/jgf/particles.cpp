// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "jgf/particles.hpp"

namespace jgf {
namespace {

// Pairs of numbers of a normal distribution (Marsaglia's polar method), from the generator of Park
// and Miller with the seed 1: x <- 16807 x mod 2^31 - 1, as the benchmark computes it in two parts.
class normal_numbers {
 public:
  void next_pair(double& first, double& second) {
    double square = 1;
    while (square >= 1) {
      first = 2 * uniform() - 1;
      second = 2 * uniform() - 1;
      square = first * first + second * second;
    }
    const double factor = std::sqrt(-2 * std::log(square) / square);
    first *= factor;
    second *= factor;
  }

 private:
  double uniform() {
    constexpr int multiplier = 16807;
    const int low = state_ % 32768 * multiplier;
    const int high = (state_ / 32768 * multiplier + low / 32768) % 65536;
    state_ = (high * 32768 + low % 32768) % 2147483647;
    return 4.656612875e-10 * state_;
  }

  int state_ = 1;
};

double nearest_image(double distance, double side) {
  if (distance < -0.5 * side) distance += side;
  if (distance > 0.5 * side) distance -= side;
  return distance;
}

double inside(double coordinate, double side) {
  if (coordinate < 0) coordinate += side;
  if (coordinate > side) coordinate -= side;
  return coordinate;
}

}  // namespace

particles::particles(int cells) : cutoff_(cells / 4.0) {
  const double n = 4.0 * cells * cells * cells;
  side_ = std::pow(n / density, 0.3333333);
  temperature_scale_ = 16.0 / (n - 1.0);
  place_on_lattice(cells);
  velocity_.resize(size());
  force_.resize(size());
  choose_velocities();
}

void particles::place_on_lattice(int cells) {
  const double a = side_ / cells;
  struct offset {
    int x, y, z;
  };
  for (const offset& o : {offset{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}}) {
    for (int i = 0; i < cells; ++i) {
      for (int j = 0; j < cells; ++j) {
        for (int k = 0; k < cells; ++k) {
          position_.push_back(
              {i * a + o.x * a * 0.5, j * a + o.y * a * 0.5, k * a + o.z * a * 0.5});
        }
      }
    }
  }
}

void particles::choose_velocities() {
  normal_numbers numbers;
  const auto count = static_cast<double>(size());
  double squares = 0;
  for (double vec3::* const axis : {&vec3::x, &vec3::y, &vec3::z}) {
    for (std::size_t i = 0; i < size(); i += 2) {
      numbers.next_pair(velocity_[i].*axis, velocity_[i + 1].*axis);
    }
  }
  for (double vec3::* const axis : {&vec3::x, &vec3::y, &vec3::z}) {
    double sum = 0;
    for (const vec3& v : velocity_) sum += v.*axis;
    const double mean = sum / count;
    for (vec3& v : velocity_) {
      v.*axis -= mean;
      squares += v.*axis * v.*axis;
    }
  }
  const double factor = time_step * std::sqrt(temperature / temperature_of(squares));
  for (vec3& v : velocity_) v *= factor;
}

void particles::move(std::size_t i) {
  vec3& at = position_[i];
  const vec3& v = velocity_[i];
  const vec3& f = force_[i];
  at = {inside(at.x + v.x + f.x, side_), inside(at.y + v.y + f.y, side_),
        inside(at.z + v.z + f.z, side_)};
  velocity_[i] += f;
}

void particles::add_forces(std::size_t i, pair_forces& forces) const {
  const vec3 at = position_[i];
  const double square_of_cutoff = cutoff_ * cutoff_;
  vec3 own;
  for (std::size_t j = i + 1; j < size(); ++j) {
    const vec3& other = position_[j];
    vec3 d = {nearest_image(at.x - other.x, side_), nearest_image(at.y - other.y, side_),
              nearest_image(at.z - other.z, side_)};
    const double square = d.square();
    if (square > square_of_cutoff) continue;
    const double r2 = 1 / square;
    const double r4 = r2 * r2;
    const double r6 = r4 * r2;
    const double r8 = r4 * r4;
    const double r12 = r4 * r8;
    const double strength = r12 * r2 - 0.5 * r8;
    forces.potential += r12 - r6;
    forces.virial -= square * strength;
    d *= strength;
    own += d;
    d *= -1;
    forces.on[j] += d;
  }
  forces.on[i] += own;
}

double particles::accelerate(std::size_t i, const vec3& force) {
  vec3& f = force_[i];
  f = force;
  f *= time_step * time_step * 0.5;
  velocity_[i] += f;
  return velocity_[i].square();
}

}  // namespace jgf
