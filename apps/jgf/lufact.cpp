// SPDX-License-Identifier: Apache-2.0

// Linpack: solves a system of linear equations by LU factorisation with partial pivoting. For each
// column one member finds the pivot and scales the column; then the members update the columns to
// the right of it, which they own in turn. Every element is computed by the same operations in all
// variants.

#include <cstddef>
#include <string>
#include <vector>

#include "jgf/check.hpp"
#include "jgf/kernel.hpp"
#include "jgf/linear_system.hpp"
#include "support/stopwatch.hpp"

namespace jgf {
namespace {

template <class Member>
void factorise(linear_system& s, const Member& member) {
  const auto members = static_cast<std::size_t>(member.members());
  const auto id = static_cast<std::size_t>(member.id());
  for (std::size_t k = 0; k + 1 < s.size(); ++k) {
    if (k % members == id) s.find_pivot(k);
    member.wait();
    const std::size_t after = k + 1;
    const std::size_t first = after + (id + members - after % members) % members;
    for (std::size_t j = first; j < s.size(); j += members) s.eliminate(k, j);
    member.wait();
  }
}

}  // namespace

apps::kernel_outcome run_lufact(const std::string& size, const apps::task_plan& plan) {
  linear_system s(rows_of_lufact(size));
  const apps::stopwatch watch;
  apps::run_in_lock_step(plan.how, plan.peer, [&](auto& member) { factorise(s, member); });
  const std::vector<double> x = s.solve();
  const double seconds = watch.seconds();
  return judge_lufact(seconds, size, linear_system(s.size()).residual(x));
}

}  // namespace jgf
