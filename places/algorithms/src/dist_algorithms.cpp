// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/places/portion_calls.hpp>
#include <apgas/places/portion_sort.hpp>

// The messages of the algorithms over distributed arrays about arguments that they cannot take.
namespace apgas::inline v0::remote {
namespace {

std::string description(const dist_shape& shape) {
  const auto what = [&]() -> std::string {
    if (shape.replicated()) return "replicated";
    if (shape.in_blocks()) return "in blocks";
    return fmt::format("in blocks of {} in turn", shape.spread().block_size());
  }();
  return fmt::format("{} elements {} over {} places", shape.size(), what, shape.portions());
}

}  // namespace

void refuse_distributions(const char* algorithm, const dist_shape& first,
                          const dist_shape& second) {
  throw illegal_operation(fmt::format(
      "{} was called with arrays of different distributions, {} and {}; make both with the same "
      "size, distribution and group",
      algorithm, description(first),
      first == second ? "the same over other places" : description(second)));
}

void refuse_order() {
  throw illegal_operation(
      "parallel::sort was called with an order that is not a strict weak order: for some elements "
      "it contradicts itself; comp(x, y) must be the `<` of an order, and floating-point elements "
      "must not be NaN");
}

}  // namespace apgas::inline v0::remote
