// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fft/slab.hpp"

namespace fft {

void slab::plane_forward(std::size_t i, number* data, number* packed) const {
  const auto& [nx, ny, nz, places] = shape_;
  number* const plane = data + i * ny * nz;
  std::vector<number> scratch(ny * nz);
  for (std::size_t y = 0; y < ny; ++y) along_z_(plane + y * nz, scratch.data(), 1, true);
  along_y_(plane, scratch.data(), nz, true);
  const std::size_t block = shape_.my_y() * nz;
  for (std::size_t p = 0; p < places; ++p) {
    std::copy_n(plane + p * block, block, packed + packed_at(p, i));
  }
}

void slab::plane_backward(std::size_t i, const number* packed, number* data) const {
  const auto& [nx, ny, nz, places] = shape_;
  number* const plane = data + i * ny * nz;
  const std::size_t block = shape_.my_y() * nz;
  for (std::size_t p = 0; p < places; ++p) {
    std::copy_n(packed + packed_at(p, i), block, plane + p * block);
  }
  std::vector<number> scratch(ny * nz);
  along_y_(plane, scratch.data(), nz, false);
  for (std::size_t y = 0; y < ny; ++y) along_z_(plane + y * nz, scratch.data(), 1, false);
}

void slab::column(std::size_t i, number* data, bool forward) const {
  const std::size_t nz = shape_.z;
  const std::size_t stride = shape_.my_y() * nz;
  std::vector<number> gathered(shape_.x * nz);
  std::vector<number> scratch(shape_.x * nz);
  for (std::size_t x = 0; x < shape_.x; ++x) {
    std::copy_n(data + x * stride + i * nz, nz, &gathered[x * nz]);
  }
  along_x_(gathered.data(), scratch.data(), nz, forward);
  for (std::size_t x = 0; x < shape_.x; ++x) {
    std::copy_n(&gathered[x * nz], nz, data + x * stride + i * nz);
  }
}

}  // namespace fft
