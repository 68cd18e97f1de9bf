// SPDX-License-Identifier: Apache-2.0
// Random programs of collectives, compared with a sequential model.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"
#include "team_members.hpp"

namespace {

using apgas::place;
using apgas::place_group;
using apgas::team;
using test::check;
using test::everywhere;
using test::matrix;
using test::of_member;

void random_calls(const team& t, std::uint64_t seed, std::size_t calls, bool splits);

// Collectives of single values, byte-copyable and serialised ones.
void random_values(const team& t, place root, std::size_t call) {
  const std::size_t n = t.size();
  const std::size_t me = t.index();
  const bool is_root = root == apgas::here();
  const std::size_t from = t.group().index_of(root);
  const auto text = [call](std::size_t i) { return std::string(i + call % 50, 'a') + 'z'; };
  check(t.broadcast(is_root ? text(from) : "", root) == text(from));
  check(t.broadcast(is_root ? call : 0, root) == call);
  const std::vector<std::string> all = t.gather(text(me), root);
  check(all.size() == (is_root ? n : 0));
  for (std::size_t i = 0; i < all.size(); ++i) check(all[i] == text(i));
  const auto product = t.reduce(of_member(me, call), std::multiplies<>(), root);
  check(product.has_value() == is_root && (!is_root || *product == test::product(n, call)));
  check(t.allreduce(of_member(me, call), std::multiplies<>()) == test::product(n, call));
  std::vector<std::size_t> shares(is_root ? n : 0);
  std::iota(shares.begin(), shares.end(), call);
  check(t.scatter(std::span(shares), root) == call + me);
}

// Splits the team; the new teams run for a while, and then the program continues with all members.
void random_split(const team& t, std::uint64_t seed) {
  const auto drawn = [seed](std::size_t member, int what) {
    apgas::base::random_engine random(seed * 31 + member * 3 + static_cast<std::uint64_t>(what));
    return static_cast<int>(random.below(4)) - (what == 0 ? 1 : 0);  // color -1 means no team
  };
  const int color = drawn(t.index(), 0);
  const team part = t.split(color, drawn(t.index(), 1));
  check((part == team()) == (color < 0));
  if (color < 0) return;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (drawn(i, 0) == color) chosen.push_back(i);
  }
  std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return drawn(i, 1); });
  check(part.size() == chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) check(part.group()[i] == t.group()[chosen[i]]);
  random_calls(part, seed + static_cast<std::uint64_t>(color), 5, false);
  part.destroy();
}

// All members draw the same collective, root and number of elements.
void random_calls(const team& t, std::uint64_t seed, std::size_t calls, bool splits) {
  apgas::base::random_engine random(seed);
  const auto n = static_cast<std::uint32_t>(t.size());
  const std::size_t me = t.index();
  const std::uint32_t longest = test::places_are_many() ? 100 : 3000;
  const auto value = [](std::size_t member, std::size_t call, std::size_t i) {
    return of_member(member + call, i);
  };
  for (std::size_t c = 0; c < calls; ++c) {
    const std::uint32_t what = random.below(splits ? 8 : 7);
    const place root = t.group()[random.below(n)];
    const std::size_t from = t.group().index_of(root);
    const std::size_t size = random.below(2) == 0 ? random.below(10) : random.below(longest);
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
      case 5: {
        std::vector<matrix> out(n * size);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(me, c, i);
        std::vector<matrix> in(out.size());
        t.alltoall(std::span<const matrix>(out), std::span(in));
        for (std::size_t i = 0; size != 0 && i < in.size(); ++i) {
          check(in[i] == value(i / size, c, me * size + i % size));
        }
        break;
      }
      case 6:
        random_values(t, root, c);
        break;
      default:
        random_split(t, seed + c);
    }
  }
}

// Runs a program with a task at each member of a team of the group.
void run_program(const place_group& group, std::uint64_t seed, std::size_t most_calls) {
  const std::size_t calls = most_calls / (test::places_are_many() ? 25 : 1) / test::slower;
  const team t(group);
  everywhere(
      t, group,
      [](const team& with, std::uint64_t s, std::size_t n) {
        random_calls(with, s, n, true);
        with.destroy();
      },
      seed, calls);
}

TEST(team_random, agrees_with_the_model) {
  const std::uint64_t seed = test::random_seed();
  apgas::base::random_engine random(seed);
  run_program(place_group(apgas::places()), seed, 200);
  for (int k = 0; k < 6; ++k) {
    run_program(test::random_group(random), random(), 60);
  }
}

// A place may be a member of several teams at once, with a task for each.
TEST(team_random, agrees_with_the_model_for_overlapping_teams) {
  apgas::base::random_engine random(test::random_seed());
  for (int round = 0; round < 3; ++round) {
    apgas::finish([&] {
      for (int k = 0; k < 3; ++k) {
        apgas::async([group = test::random_group(random), seed = random()] {
          run_program(group, seed, 50);
        });
      }
    });
  }
}

}  // namespace
