// SPDX-License-Identifier: Apache-2.0
// Random programs of collectives against a sequential model.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"
#include "team_members.hpp"

namespace {

using apgas::place;
using apgas::place_group;
using apgas::team;
using test::backwards;
using test::check;
using test::everywhere;
using test::matrix;
using test::of_member;

// The same at all members: which collective comes next, with which root and how many elements.
void random_calls(const team& t, std::uint64_t seed, std::size_t calls) {
  apgas::base::random_engine random(seed);
  const auto n = static_cast<std::uint32_t>(t.size());
  const std::size_t me = t.index();
  const auto value = [](std::size_t member, std::size_t call, std::size_t i) {
    return of_member(member + call, i);
  };
  for (std::size_t c = 0; c < calls; ++c) {
    const std::uint32_t what = random.below(6);
    const place root = t.group()[random.below(n)];
    const std::size_t from = t.group().index_of(root);
    const std::size_t size = random.below(2) == 0 ? random.below(10) : random.below(3000);
    std::vector<matrix> mine(size);
    for (std::size_t i = 0; i < size; ++i) mine[i] = value(me, c, i);
    const auto combined = [&](std::size_t i) {
      matrix all;
      for (std::size_t m = 0; m < n; ++m) all = all * value(m, c, i);
      return all;
    };
    std::vector<matrix> got(size);
    switch (what) {
      case 0:
        t.barrier();
        break;
      case 1:
        t.broadcast(std::span(mine), root);
        for (std::size_t i = 0; i < size; ++i) check(mine[i] == value(from, c, i));
        break;
      case 2:
        t.reduce(std::span<const matrix>(mine), std::span(got), std::multiplies<>(), root);
        for (std::size_t i = 0; me == from && i < size; ++i) check(got[i] == combined(i));
        break;
      case 3:
        t.allreduce(std::span(mine), std::multiplies<>());
        for (std::size_t i = 0; i < size; ++i) check(mine[i] == combined(i));
        break;
      case 4: {
        std::vector<matrix> all(me == from ? n * size : 0);
        t.gather(std::span<const matrix>(mine), std::span(all), root);
        for (std::size_t i = 0; size != 0 && i < all.size(); ++i) {
          check(all[i] == value(i / size, c, i % size));
        }
        got.assign(size, {});
        t.scatter(std::span<const matrix>(all), std::span(got), root);
        check(got == mine);
        break;
      }
      default: {
        std::vector<matrix> out(n * size);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(me, c, i);
        std::vector<matrix> in(out.size());
        t.alltoall(std::span<const matrix>(out), std::span(in));
        for (std::size_t i = 0; size != 0 && i < in.size(); ++i) {
          check(in[i] == value(i / size, c, me * size + i % size));
        }
      }
    }
  }
}

TEST(team_random, programs) {
  const unsigned long fixed = test::number_from_environment("APGAS_TEST_SEED", 0);
  std::random_device entropy;
  const std::uint64_t seed = fixed != 0 ? fixed : entropy() | 1U;
  std::printf("APGAS_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (const place_group& group : {place_group(apgas::places()), backwards()}) {
    const team t(group);
    everywhere(
        t, group,
        [](const team& with, std::uint64_t s) {
          random_calls(with, s, std::size_t{200} / test::slower);
          with.destroy();
        },
        seed);
  }
}

}  // namespace
