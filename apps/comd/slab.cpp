// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "comd/slab.hpp"

namespace comd {
namespace {

bool in_order(const atom& a, const atom& b) {
  return a.cell_z != b.cell_z ? a.cell_z < b.cell_z : a.id < b.id;
}

// Sorts by insertion: few atoms have left their cell, so that nearly all are in order.
void sort(std::vector<atom>& atoms) {
  for (std::size_t i = 1; i < atoms.size(); ++i) {
    if (!in_order(atoms[i], atoms[i - 1])) continue;
    const auto end = atoms.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(std::upper_bound(atoms.begin(), end, *end, in_order), end, end + 1);
  }
}

}  // namespace

slab::slab(const cube& c, std::uint32_t first, std::uint32_t last, const std::vector<atom>& all)
    : cube_(c),
      first_(first),
      last_(last),
      rows_(static_cast<std::size_t>(last - first) * c.cells()),
      images_(static_cast<std::size_t>(last - first + 2) * c.cells()) {
  for (const atom& a : all) {
    const std::uint32_t x = c.cell_of(a.position.x);
    if (x < first || x >= last) continue;
    rows_[static_cast<std::size_t>(x - first) * c.cells() + c.cell_of(a.position.y)]
        .atoms.push_back(a);
  }
  for (row_of_cells& row : rows_) std::ranges::sort(row.atoms, in_order);
}

void slab::move(std::size_t row) {
  row_of_cells& own = rows_[row];
  const std::uint32_t x = first_ + static_cast<std::uint32_t>(row / cube_.cells());
  const auto y = static_cast<std::uint32_t>(row % cube_.cells());
  // The coordinate in the cube, after a move to the given side of its cell.
  const auto wrap = [&](double& coordinate, std::uint32_t cell, int to) {
    if (to == 0) return cell;
    const auto [entered, shift] = cube_.beside(cell, to);
    coordinate -= shift;
    return entered;
  };
  own.leaving.clear();
  std::size_t kept = 0;
  for (atom& a : own.atoms) {
    a.momentum += 0.5 * time_step * a.force;
    a.position += time_step / mass * a.momentum;
    const int to_x = cube_.left_cell(a.position.x, x);
    const int to_y = cube_.left_cell(a.position.y, y);
    const int to_z = cube_.left_cell(a.position.z, a.cell_z);
    a.cell_z = wrap(a.position.z, a.cell_z, to_z);
    if (to_x == 0 && to_y == 0) {
      own.atoms[kept++] = a;
    } else {
      wrap(a.position.x, x, to_x);
      const std::uint32_t entered = wrap(a.position.y, y, to_y);
      own.leaving.push_back({a, to_x, entered});
    }
  }
  own.atoms.resize(kept);
}

both_sides<leaver> slab::leavers() const {
  both_sides<leaver> out;
  const std::size_t plane = cube_.cells();
  for (std::size_t y = 0; y < plane; ++y) {
    for (const leaver& l : rows_[y].leaving) {
      if (l.to_x < 0) out[below].push_back(l);
    }
    for (const leaver& l : rows_[rows_.size() - plane + y].leaving) {
      if (l.to_x > 0) out[above].push_back(l);
    }
  }
  return out;
}

void slab::add_arrivals(std::size_t row) {
  const std::size_t plane = cube_.cells();
  const std::size_t x = row / plane;
  const auto y = static_cast<std::uint32_t>(row % plane);
  std::vector<atom>& atoms = rows_[row].atoms;
  const auto take = [&](const std::vector<leaver>& from, int to_x) {
    for (const leaver& l : from) {
      if (l.to_x == to_x && l.to_y == y) atoms.push_back(l.moved);
    }
  };
  for (const int to_x : {-1, 0, 1}) {
    if (to_x > 0 && x == 0) {
      take(arrivals_[below], to_x);
    } else if (to_x < 0 && x + 1 == planes()) {
      take(arrivals_[above], to_x);
    } else {
      const std::size_t from = x - static_cast<std::size_t>(to_x);
      const std::uint32_t previous = cube_.beside(y, -1).cell;
      const std::uint32_t next = cube_.beside(y, 1).cell;
      take(rows_[from * plane + previous].leaving, to_x);
      take(rows_[from * plane + y].leaving, to_x);
      if (next != previous) take(rows_[from * plane + next].leaving, to_x);
    }
  }
}

void slab::make_image(std::size_t row) {
  const std::vector<atom>& atoms = rows_[row].atoms;
  row_image& image = images_[row + cube_.cells()];
  const std::uint32_t cells = cube_.cells();
  image.first.assign(cells + 3, 0);
  for (const atom& a : atoms) ++image.first[a.cell_z + 2];
  const std::uint32_t in_first = image.first[2];
  const std::uint32_t in_last = image.first[cells + 1];
  image.first[1] = in_last;
  image.first[cells + 2] = in_first;
  for (std::size_t k = 1; k < image.first.size(); ++k) image.first[k] += image.first[k - 1];

  const std::size_t size = image.first.back();
  image.x.resize(size);
  image.y.resize(size);
  image.z.resize(size);
  std::size_t at = 0;
  const auto put = [&](std::size_t from, std::size_t to, double shift) {
    for (std::size_t i = from; i < to; ++i, ++at) {
      image.x[at] = atoms[i].position.x;
      image.y[at] = atoms[i].position.y;
      image.z[at] = atoms[i].position.z + shift;
    }
  };
  put(atoms.size() - in_last, atoms.size(), -cube_.edge());
  put(0, atoms.size(), 0);
  put(0, in_first, cube_.edge());
}

void slab::take_in(std::size_t row) {
  add_arrivals(row);
  sort(rows_[row].atoms);
  make_image(row);
}

// A row of the halo, as a message: the numbers of its cells, and then x, y and z.
both_sides<double> slab::boundary() const {
  both_sides<double> out;
  for (const side s : {below, above}) {
    for (std::uint32_t y = 0; y < cube_.cells(); ++y) {
      const row_image& image = images_[image_at(s == below ? 1 : planes(), y)];
      out[s].insert(out[s].end(), image.first.begin(), image.first.end());
      for (const auto* values : {&image.x, &image.y, &image.z}) {
        out[s].insert(out[s].end(), values->begin(), values->end());
      }
    }
  }
  return out;
}

void slab::take_halo(const both_sides<double>& from) {
  for (const side s : {below, above}) {
    const double* next = from[s].data();
    for (std::uint32_t y = 0; y < cube_.cells(); ++y) {
      row_image& image = images_[image_at(s == below ? 0 : planes() + 1, y)];
      image.first.resize(cube_.cells() + 3);
      for (std::uint32_t& f : image.first) f = static_cast<std::uint32_t>(*next++);
      for (auto* values : {&image.x, &image.y, &image.z}) {
        values->assign(next, next + image.first.back());
        next += image.first.back();
      }
    }
  }
}

std::vector<energies> slab::plane_energies() const {
  std::vector<energies> sums(planes());
  for (std::size_t row = 0; row < rows_.size(); ++row) sums[row / cube_.cells()] += rows_[row].sum;
  return sums;
}

std::vector<atom> slab::atoms() const {
  std::vector<atom> all;
  for (const row_of_cells& row : rows_) all.insert(all.end(), row.atoms.begin(), row.atoms.end());
  return all;
}

}  // namespace comd
