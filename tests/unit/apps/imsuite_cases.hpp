// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inputs for the tests of IMSuite, and solutions of them.

#include <algorithm>

#include <apgas/runtime.hpp>

#include "imsuite/kernel.hpp"

namespace imsuite_test {

inline imsuite::shape shape_for(const imsuite::kernel& k) {
  const bool tree = std::ranges::find(k.sections, imsuite::section::parents) != k.sections.end();
  return tree ? imsuite::shape::tree : imsuite::shape::sparse;
}

inline imsuite::input make_input(const imsuite::kernel& k, int nodes, std::uint64_t seed = 1) {
  return imsuite::generate_input(k.sections, shape_for(k), nodes, seed);
}

inline imsuite::outcome solve(const imsuite::kernel& k, const imsuite::input& in,
                              imsuite::variant v = imsuite::variant::finish) {
  apgas::runtime tasks({.workers = 2});
  return tasks.run([&] { return k.solve(in, v); });
}

}  // namespace imsuite_test
