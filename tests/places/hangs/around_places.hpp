// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

#include <apgas/apgas.hpp>

// What programs over several places have in common.
namespace apgas::test {

inline place last() { return places()[places().size() - 1]; }

// A chain of tasks with a timer in between, which goes around all places.
inline void pass_around(int hops) {
  if (hops == 0) return;
  sleep_for(std::chrono::milliseconds(50));
  const auto i = static_cast<std::size_t>(here().id());
  async_at(places()[(i + 1) % places().size()], [](int left) { pass_around(left); }, hops - 1);
}

}  // namespace apgas::test
