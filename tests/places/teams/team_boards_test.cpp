// SPDX-License-Identifier: Apache-2.0
// Teams whose members use bulletin boards: what does not fit on one, teams that begin at the same
// time, and overwritten memory.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <apgas/places/remote_teams.hpp>
#include <apgas/sync/place_state.hpp>

#include "check.hpp"
#include "team_members.hpp"

namespace {

using apgas::place;
using apgas::place_group;
using apgas::team;
using test::check;
using test::everywhere;

// Larger than a post.
struct vector_of_longs {
  std::array<std::int64_t, 2500> values{};
};

TEST(team_boards, an_element_may_be_larger_than_a_post) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    static_assert(sizeof(vector_of_longs) > 16'192);
    vector_of_longs mine;
    for (std::size_t i = 0; i < mine.values.size(); ++i) {
      mine.values[i] = static_cast<std::int64_t>(i * (t.index() + 1));
    }
    const auto sum = [](const vector_of_longs& a, const vector_of_longs& b) {
      vector_of_longs both = a;
      for (std::size_t i = 0; i < both.values.size(); ++i) both.values[i] += b.values[i];
      return both;
    };
    const std::size_t times = t.size() * (t.size() + 1) / 2;
    const auto as_expected = [&](const vector_of_longs& all) {
      for (std::size_t i = 0; i < all.values.size(); ++i) {
        check(all.values[i] == static_cast<std::int64_t>(i * times));
      }
    };
    as_expected(t.allreduce(mine, sum));
    if (const auto all = t.reduce(mine, sum, test::last())) as_expected(*all);
    const vector_of_longs first = t.broadcast(mine, place());
    check(first.values.back() == 2499);
  });
}

// Data of several parts, and of a part that is not full.
TEST(team_boards, data_may_be_longer_than_a_board) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    const std::size_t n = t.size();
    std::vector<std::int64_t> sums(700'001);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = static_cast<std::int64_t>(i * (t.index() + 1));
    }
    t.allreduce(std::span(sums), std::plus<>());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      check(sums[i] == static_cast<std::int64_t>(i * n * (n + 1) / 2));
    }
    for (const place root : {place(), test::last()}) {
      std::vector<std::int64_t> sent(300'001, apgas::here().id());
      t.broadcast(std::span(sent), root);
      check(std::ranges::all_of(sent, [&](std::int64_t x) { return x == root.id(); }));
    }
    const std::size_t each = test::places_are_many() ? 1001 : 140'001;
    std::vector<std::size_t> out(n * each);
    std::vector<std::size_t> in(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = t.index() * n * each + i;
    t.alltoall(std::span<const std::size_t>(out), std::span(in));
    for (std::size_t i = 0; i < in.size(); ++i) {
      check(in[i] == i / each * n * each + t.index() * each + i % each);
    }
  });
}

// The result of a reduce may be other memory than the data, the same, or overlap it.
TEST(team_boards, a_reduce_of_long_data_has_its_result_anywhere) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    constexpr std::size_t size = 300'001;
    const std::size_t n = t.size();
    for (const place root : {place(), test::last()}) {
      for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, size}) {
        std::vector<std::size_t> memory(size + shift);
        const std::span<std::size_t> mine = std::span(memory).first(size);
        for (std::size_t i = 0; i < size; ++i) mine[i] = i * (t.index() + 1);
        const std::span<std::size_t> result = std::span(memory).last(size);
        t.reduce(std::span<const std::size_t>(mine), result, std::plus<>(), root);
        for (std::size_t i = 0; i < size; ++i) {
          if (root == apgas::here())
            check(result[i] == i * n * (n + 1) / 2);
          else
            check(mine[i] == i * (t.index() + 1));
        }
      }
    }
  });
}

TEST(team_boards, blocks_of_a_gather_and_a_scatter_may_be_longer_than_a_board) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    constexpr std::size_t each = 70'001;
    for (const place root : {place(), test::last()}) {
      const bool is_root = root == apgas::here();
      std::vector<std::size_t> all(is_root ? t.size() * each : 0);
      std::vector<std::size_t> mine(each);
      for (std::size_t i = 0; i < each; ++i) mine[i] = t.index() * each + i;
      t.gather(std::span<const std::size_t>(mine), std::span(all), root);
      for (std::size_t i = 0; i < all.size(); ++i) check(all[i] == i);
      std::ranges::reverse(all);
      t.scatter(std::span<const std::size_t>(all), std::span(mine), root);
      for (std::size_t i = 0; i < each; ++i) {
        check(mine[i] == t.size() * each - 1 - t.index() * each - i);
      }
    }
  });
}

// Others may be copying the data of the last place when its operation throws and they are freed.
void throw_in_operation(bool all_reduce) {
  const team t{place_group(apgas::places())};
  std::vector<std::string> refused(static_cast<std::size_t>(apgas::num_places()));
  apgas::finish([&] {
    for (const place p : apgas::places()) {
      apgas::async([&, p] {
        refused[static_cast<std::size_t>(p.id())] = apgas::at(
            p,
            [](const team& with, bool all_reduce) -> std::string {
              std::vector<std::int64_t> data(200'000);
              int calls = 0;
              const auto sum = [&](std::int64_t a, std::int64_t b) {
                if (++calls == 100 && apgas::here() == test::last()) {
                  throw std::runtime_error("a sum that cannot be");
                }
                return a + b;
              };
              try {
                if (all_reduce) {
                  with.allreduce(std::span(data), sum);
                } else {
                  with.reduce(std::span<const std::int64_t>(data), std::span(data), sum,
                              test::last());
                  with.barrier();  // others than the root need not wait for it
                }
              } catch (const std::exception& e) {
                return e.what();
              }
              return "";
            },
            t, all_reduce);
      });
    }
  });
  for (const std::string& text : refused) {
    EXPECT_NE(text.find("a sum that cannot be"), std::string::npos) << text;
  }
}

TEST(team_boards, an_operation_on_long_data_may_throw) {
  if (apgas::num_places() == 1) return;
  throw_in_operation(false);
  throw_in_operation(true);
}

// The bytes of the board that this place has in a team; none if it has no board.
std::span<std::byte> board_of(const team& t) {
  const apgas::scheduler::fiber& self = *apgas::scheduler::current_fiber();
  const auto id = std::bit_cast<apgas::remote::global_id>(t);
  const apgas::remote::team_member& member = *apgas::remote::teams_of(self).find(id);
  if (!member.has_board()) return {};
  auto& state = apgas::sync::place_of(self);
  constexpr std::size_t bytes = std::size_t{512} << 10;
  return state.endpoint->network()
      .shared_area(state.here)
      .subspan(static_cast<std::size_t>(member.board_index()) * bytes, bytes);
}

// The root of a broadcast to one member does not read its data itself, if the other one may.
TEST(team_boards, memory_that_cannot_be_read_breaks_the_team) {
  const auto& endpoint = *apgas::sync::place_of(*apgas::scheduler::current_fiber()).endpoint;
  const bool reads = endpoint.zero_copy_from(test::last().id()) != apgas::comm::no_zero_copy;
  const team t{place_group(apgas::places())};
  if (apgas::num_places() != 2 || !reads) return;
  everywhere(t, apgas::places(), [](const team& with) { with.barrier(); });
  if (!apgas::at(place(1), [](const team& with) { return !board_of(with).empty(); }, t)) return;
  const auto broadcast = [](const team& with) -> std::string {
    constexpr std::size_t bytes = 65'536;
    const bool is_root = apgas::here() == place();
    void* const memory = mmap(nullptr, bytes, is_root ? PROT_NONE : PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return "no memory";
    std::string refused;
    try {
      with.broadcast(std::span(static_cast<char*>(memory), bytes), place());
    } catch (const std::exception& e) {
      refused = e.what();
    }
    munmap(memory, bytes);
    return refused;
  };
  apgas::future<std::string> reader = apgas::async_future_at(place(1), broadcast, t);
  const std::string root = broadcast(t);
  for (const std::string& text : {root, reader.get()}) {
    EXPECT_NE(text.find("cannot read 65536 bytes of the memory of process"), std::string::npos)
        << text;
  }
}

// Each member makes the first call of both teams at the same time, so that one of them may get no
// boards at some places.
TEST(team_boards, two_teams_may_begin_at_the_same_time) {
  for (int round = 0; round < 20; ++round) {
    const team one{place_group(apgas::places())};
    const team other{test::backwards()};
    everywhere(
        one, apgas::places(),
        [](const team& first, const team& second) {
          apgas::finish([&] {
            for (const team t : {first, second}) {
              apgas::async([t] {
                for (int i = 1; i < 4; ++i) {
                  check(t.allreduce(i, std::plus<>()) == i * apgas::num_places());
                }
                t.destroy();
              });
            }
          });
        },
        other);
  }
}

// What a call in a team throws at a place.
std::string refusal_at(place p, const team& t) {
  return apgas::at(
      p,
      [](const team& with) -> std::string {
        try {
          with.barrier();
        } catch (const apgas::illegal_operation& e) {
          return e.what();
        }
        return "";
      },
      t);
}

// The last place with a board overwrites it and makes no further call. The others find out when
// they have waited for it.
TEST(team_boards, overwritten_memory_breaks_the_team_and_names_the_place) {
  const team t{place_group(apgas::places())};
  everywhere(t, apgas::places(), [](const team& with) { with.barrier(); });
  place broken;
  for (place p : apgas::places()) {
    if (apgas::at(p, [](const team& with) { return !board_of(with).empty(); }, t)) broken = p;
  }
  if (broken == place()) return;  // without shared memory
  apgas::at(
      broken,
      [](const team& with) {
        const std::span<std::byte> board = board_of(with);
        std::memset(board.data(), 0xff, board.size());
      },
      t);
  std::vector<std::string> refused(static_cast<std::size_t>(apgas::num_places()));
  apgas::finish([&] {
    for (place p : apgas::places()) {
      if (p == broken) continue;
      apgas::async([&, p] { refused[static_cast<std::size_t>(p.id())] = refusal_at(p, t); });
    }
  });
  refused[static_cast<std::size_t>(broken.id())] = refusal_at(broken, t);
  for (const std::string& text : refused) {
    EXPECT_NE(text.find("overwritten"), std::string::npos) << text;
    EXPECT_NE(text.find("place " + std::to_string(broken.id()) + " shares"), std::string::npos)
        << text;
  }
}

}  // namespace
