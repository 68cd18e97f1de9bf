// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/places/array_portion.hpp>

namespace apgas::inline v0 {

distribution distribution::block_cyclic(std::size_t elements) {
  if (elements == 0) {
    throw illegal_operation(
        "distribution::block_cyclic(0) was asked for; a block has one element at least");
  }
  return {kind::block_cyclic, elements};
}

namespace remote {
namespace {

// So that no index and no number of bytes overflows, also with a halo.
std::size_t most_elements(std::size_t element_bytes) {
  return static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / element_bytes;
}

void check_group(const char* what, std::size_t group_size) {
  if (group_size != 0) return;
  throw illegal_operation(fmt::format(
      "a {} over a place_group without places was asked for; its elements need one at least",
      what));
}

}  // namespace

void check_dist_halo(const char* what, std::size_t fewest, std::size_t halo) {
  if (halo <= fewest) return;
  throw illegal_operation(
      fmt::format("a halo of {} was asked for, and a place has {} {} only; wanted at least as many "
                  "as the halo at each place: take fewer places or a smaller halo",
                  halo, fewest, what));
}

void check_dist_array(const dist_shape& shape, std::size_t element_bytes, std::size_t halo,
                      std::size_t group_size) {
  check_group("dist_array", group_size);
  const std::size_t most = most_elements(element_bytes);
  if (shape.size() > most) {
    throw illegal_operation(
        fmt::format("a dist_array of {} elements of {} bytes was asked for; {} are the most whose "
                    "bytes can be counted (was a negative number converted?)",
                    shape.size(), element_bytes, most));
  }
  if (halo == 0) return;
  if (!shape.in_blocks()) {
    throw illegal_operation(
        "a halo was asked for without block distribution; only blocks have neighbours");
  }
  check_dist_halo("elements", shape.size_of(shape.portions() - 1), halo);
}

void check_dist_grid(std::size_t rows, std::size_t columns, std::size_t element_bytes,
                     std::size_t group_size) {
  check_group("dist_grid", group_size);
  // A sixteenth: with halos, which are no wider than the part, a part may have nine times as many.
  const std::size_t most = most_elements(element_bytes) / 16;
  if (columns != 0 && rows > most / columns) {
    throw illegal_operation(
        fmt::format("a dist_grid of {} rows and {} columns of {} bytes was asked for; {} elements "
                    "are the most whose bytes can be counted (was a negative number converted?)",
                    rows, columns, element_bytes, most));
  }
}

void throw_no_element(std::size_t i, std::size_t size) {
  throw illegal_operation(fmt::format(
      "element {} of a dist_array of {} was asked for; they are 0 to size() - 1", i, size));
}

void throw_element_elsewhere(std::size_t i, int at) {
  throw bad_place(
      fmt::format("element {} of a dist_array was used where it is not: it is at place {}; go "
                  "there, at(a.place_of(i), [a, i] {{ ... a[i] ... }}), or use get() and put()",
                  i, at));
}

void throw_other_size(std::size_t wanted, std::size_t found) {
  throw illegal_operation(
      fmt::format("scatter() of an array over places needs as many values as it has elements: "
                  "wanted {}, found {}",
                  wanted, found));
}

}  // namespace remote
}  // namespace apgas::inline v0
