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
        "distribution::block_cyclic(0) was asked for, but a block has at least one element");
  }
  return {kind::block_cyclic, elements};
}

namespace remote {
namespace {

// The limit up to which no index and no number of bytes overflows, also with a halo.
std::size_t most_elements(std::size_t element_bytes) {
  return static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / element_bytes;
}

void check_group(const char* what, std::size_t group_size) {
  if (group_size != 0) return;
  throw illegal_operation(fmt::format(
      "a {} over an empty place_group was asked for, but its elements need at least one place",
      what));
}

}  // namespace

void check_dist_halo(const char* what, std::size_t fewest, std::size_t halo) {
  if (halo <= fewest) return;
  throw illegal_operation(
      fmt::format("a halo of {} was asked for, but a place has only {} {}; each place needs at "
                  "least as many as the halo is wide: use fewer places or a smaller halo",
                  halo, fewest, what));
}

void check_dist_array(const dist_shape& shape, std::size_t element_bytes, std::size_t halo,
                      std::size_t group_size) {
  check_group("dist_array", group_size);
  const std::size_t most = most_elements(element_bytes);
  if (shape.size() > most) {
    throw illegal_operation(
        fmt::format("a dist_array of {} elements of {} bytes was asked for, but at most {} can be "
                    "addressed (was a negative number converted?)",
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
  // Divided by 16, because a portion with its halo, which is at most as wide as the portion, has up
  // to nine times as many elements.
  const std::size_t most = most_elements(element_bytes) / 16;
  if (columns != 0 && rows > most / columns) {
    throw illegal_operation(
        fmt::format("a dist_grid of {} rows and {} columns of {} bytes was asked for, but at most "
                    "{} elements can be addressed (was a negative number converted?)",
                    rows, columns, element_bytes, most));
  }
}

void throw_no_element(std::size_t i, std::size_t size) {
  throw illegal_operation(fmt::format(
      "element {} of a dist_array of {} elements was asked for; the indices are 0 to size() - 1", i,
      size));
}

void throw_element_elsewhere(std::size_t i, int at) {
  throw bad_place(fmt::format(
      "element {} of a dist_array was used at another place than its own, place {}; run the code "
      "there, at(a.place_of(i), [a, i] {{ ... a[i] ... }}), or use get() and put()",
      i, at));
}

void throw_other_size(std::size_t wanted, std::size_t found) {
  throw illegal_operation(
      fmt::format("scatter() of a distributed array needs as many values as the array has "
                  "elements: wanted {}, found {}",
                  wanted, found));
}

}  // namespace remote
}  // namespace apgas::inline v0
