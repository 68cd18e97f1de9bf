// SPDX-License-Identifier: Apache-2.0
// team: the result of each collective, with every root, over groups in any order.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/places/between_runs.hpp>
#include <apgas/places/heads_alltoall.hpp>
#include <apgas/places/remote_teams.hpp>
#include <apgas/places/team_schedule.hpp>
#include <apgas/sync/place_state.hpp>

#include "check.hpp"
#include "team_members.hpp"

namespace {

using apgas::async_at;
using apgas::place;
using apgas::place_group;
using apgas::team;
using test::all_of_member;
using test::backwards;
using test::check;
using test::everywhere;
using test::matrix;
using test::of_member;
using test::product;

static_assert(std::is_trivially_copyable_v<team> && sizeof(team) == 16);

TEST(team, world_has_all_places) {
  const auto n = static_cast<std::size_t>(apgas::num_places());
  everywhere(team::world(), apgas::places(), [](const team& t) {
    check(t == team::world());
    check(t.size() == static_cast<std::size_t>(apgas::num_places()));
    check(t.index() == static_cast<std::size_t>(apgas::here().id()));
    check(t.group() == place_group(apgas::places()));
    for (int i = 0; i < 100; ++i) t.barrier();
  });
  EXPECT_EQ(team::world().size(), n);
}

TEST(team, members_are_in_the_order_of_the_group) {
  const place_group group = backwards();
  const team t(group);
  everywhere(t, group, [](const team& with) {
    const std::size_t n = with.size();
    check(with.index() == n - 1 - static_cast<std::size_t>(apgas::here().id()));
    const int last = with.broadcast(apgas::here().id(), with.group()[0]);
    check(last == apgas::num_places() - 1);
    with.destroy();
  });
}

TEST(team, a_barrier_waits_for_all_members) {
  static std::atomic<int> came;
  came = 0;
  everywhere(team::world(), apgas::places(), [](const team& t) {
    for (int round = 1; round <= 50; ++round) {
      apgas::at(place(), [] { ++came; });
      t.barrier();
      check(apgas::at(place(), [] { return came.load(); }) >= round * apgas::num_places());
    }
  });
}

TEST(team, broadcasts_bytes_values_and_spans) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    for (place root : test::some_places()) {
      const int me = apgas::here().id();
      check(t.broadcast(me, root) == root.id());
      const std::string text(static_cast<std::size_t>(root.id()) * 1000, 'x');
      check(t.broadcast(apgas::here() == root ? text : std::string("?"), root) == text);
      for (const std::size_t n : {0U, 1U, 1000U, 100'000U}) {
        std::vector<int> data(n, me);
        t.broadcast(std::span(data), root);
        check(std::ranges::all_of(data, [&](int x) { return x == root.id(); }));
      }
    }
  });
}

TEST(team, reduces_in_the_order_of_the_members) {
  const place_group group = backwards();
  const team t(group);
  everywhere(t, group, [](const team& with) {
    const std::size_t n = with.size();
    const std::size_t me = with.index();
    for (const place at : test::some_places()) {
      const bool is_root = at == apgas::here();
      const auto one = with.reduce(of_member(me, 0), std::multiplies<>(), at);
      check(one.has_value() == is_root);
      if (one) check(*one == product(n, 0));
      for (const std::size_t size : {0U, 1U, 7U, 5000U}) {
        const std::vector<matrix> mine = all_of_member(me, size);
        std::vector<matrix> result(is_root ? size : 0);
        with.reduce(std::span(mine), std::span(result), std::multiplies<>(), at);
        for (std::size_t e = 0; e < result.size(); ++e) check(result[e] == product(n, e));
      }
    }
    with.destroy();
  });
}

TEST(team, allreduces_short_and_long) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    const std::size_t n = t.size();
    const std::size_t me = t.index();
    check(t.allreduce(of_member(me, 3), std::multiplies<>()) == product(n, 3));
    check(t.allreduce(static_cast<long>(me), std::plus<>()) == static_cast<long>(n * (n - 1) / 2));
    for (const std::size_t size : {0U, 1U, 2U, 3U, 255U, 256U, 257U, 20'001U}) {
      std::vector<matrix> data = all_of_member(me, size);
      t.allreduce(std::span(data), std::multiplies<>());
      for (std::size_t e = 0; e < size; ++e) check(data[e] == product(n, e));
    }
  });
}

TEST(team, allreduce_gives_bitwise_the_same_result_everywhere) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    std::vector<double> data(3000);
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] = 1.0 / static_cast<double>(i * t.size() + t.index() + 1);
    }
    t.allreduce(std::span(data), std::plus<>());
    std::vector<double> of_first = data;
    t.broadcast(std::span(of_first), place());
    check(of_first == data);
  });
}

TEST(team, scatters_and_gathers) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    const std::size_t n = t.size();
    const std::size_t me = t.index();
    for (place root : test::some_places()) {
      for (const std::size_t each : {0U, 1U, 5U, 3000U}) {
        std::vector<std::size_t> all(apgas::here() == root ? n * each : 0);
        std::iota(all.begin(), all.end(), root.id());
        std::vector<std::size_t> mine(each);
        t.scatter(std::span<const std::size_t>(all), std::span(mine), root);
        for (std::size_t i = 0; i < each; ++i) {
          check(mine[i] == me * each + i + static_cast<std::size_t>(root.id()));
        }
        std::vector<std::size_t> back(all.size());
        t.gather(std::span<const std::size_t>(mine), std::span(back), root);
        check(back == all);
      }
      std::vector<int> squares(n);
      for (std::size_t i = 0; i < n; ++i) squares[i] = static_cast<int>(i * i);
      check(t.scatter(std::span<const int>(squares), root) == static_cast<int>(me * me));
    }
  });
}

TEST(team, gathers_values_of_any_size) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    const std::size_t step = test::places_are_many() ? 1000 : 20'000;
    for (place root : test::some_places()) {
      const auto texts = t.gather(std::string(t.index() * step, 'a'), root);
      check(texts.size() == (apgas::here() == root ? t.size() : 0));
      for (std::size_t i = 0; i < texts.size(); ++i) check(texts[i].size() == i * step);
      const std::vector<bool> flags = t.gather(t.index() % 2 == 1, root);
      for (std::size_t i = 0; i < flags.size(); ++i) check(flags[i] == (i % 2 == 1));
    }
  });
}

TEST(team, alltoall_transposes) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    const std::size_t n = t.size();
    // With hosts of three and two places, 170 is the most that the first places of the hosts
    // exchange for the others, in several parts.
    const std::size_t most = test::places_are_many() ? 500 : 5000;
    for (const std::size_t each : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{170},
                                   std::size_t{171}, most}) {
      std::vector<std::size_t> out(n * each);
      std::vector<std::size_t> in(n * each);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = t.index() * n * each + i;
      t.alltoall(std::span<const std::size_t>(out), std::span(in));
      for (std::size_t i = 0; i < in.size(); ++i) {
        check(in[i] == (i / std::max<std::size_t>(each, 1)) * n * each + t.index() * each +
                           i % std::max<std::size_t>(each, 1));
      }
    }
  });
}

TEST(team, splits_by_color_and_key) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    const int me = apgas::here().id();
    const team half = t.split(me % 2, -me);
    check(half.size() == (t.size() + (me % 2 == 0 ? 1 : 0)) / 2);
    check(half.group()[half.index()] == apgas::here());
    for (std::size_t i = 1; i < half.size(); ++i) {
      check(half.group()[i].id() == half.group()[i - 1].id() - 2);
    }
    const int sum = half.allreduce(me % 2, std::plus<>());
    check(sum == (me % 2) * static_cast<int>(half.size()));
    const team none = t.split(me == 0 ? -1 : 1);
    check((none == team()) == (me == 0));
    if (me != 0) none.destroy();
    half.destroy();
    t.barrier();
  });
}

TEST(team, many_exist_at_the_same_time) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    std::vector<team> teams(20);
    for (int i = 0; i < 20; ++i) {
      teams[static_cast<std::size_t>(i)] = t.split(0, i % 2 == 0 ? 1 : -apgas::here().id());
    }
    for (int i = 0; i < 20; ++i) {
      for (const team& each : teams) check(each.allreduce(1, std::plus<>()) > 0);
    }
    for (const team& each : teams) each.destroy();
  });
}

TEST(team, other_tasks_run_while_one_waits) {
  if (apgas::num_places() == 1) return;
  const team t = team::world();
  static std::atomic<int> ran;
  ran = 0;
  apgas::finish([t] {
    for (int i = 0; i < 100; ++i) apgas::async([] { ++ran; });
    apgas::async([t] { t.barrier(); });
    // The other members enter the barrier only after tasks of this place have run.
    for (int i = 0; i < 100; ++i) apgas::async([] { ++ran; });
    while (ran != 200) apgas::yield();
    for (place p : apgas::places()) {
      if (p != apgas::here()) async_at(p, [t] { t.barrier(); });
    }
  });
}

TEST(team, a_root_may_run_ahead) {
  everywhere(team::world(), apgas::places(), [](const team& t) {
    for (int i = 0; i < 3000; ++i) check(t.broadcast(i, place()) == i);
    for (int i = 0; i < 3000; ++i) {
      const auto sum = t.reduce(i, std::plus<>(), test::last());
      if (sum) check(*sum == i * apgas::num_places());
    }
  });
}

// Expects that this place sends this many frames in a call, but for waking a member that sleeps.
// Counts a hundred calls, since a barrier may come between
// some, and takes the least of several rounds, since a task that waits for 100 ms sends one more.
template <class Call>
void expect_frames(std::vector<std::string>& wrong, const char* what, std::uint64_t frames,
                   const team& t, Call call) {
  constexpr std::uint64_t calls = 100;
  const std::uint64_t more_or_less = 2 * t.size();
  const apgas::scheduler::fiber& self = *apgas::scheduler::current_fiber();
  auto& network = *apgas::sync::place_of(self).endpoint;
  const auto& teams = apgas::remote::teams_of(self);  // under load tasks may wait that long
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t before = network.total_traffic().frames_sent - teams.told();
    for (std::uint64_t i = 0; i < calls; ++i) call();
    network.flush();  // frames that wait for others are not counted
    least = std::min(least, network.total_traffic().frames_sent - teams.told() - before);
  }
  if (least + more_or_less < calls * frames || least > calls * frames + more_or_less) {
    wrong.push_back(std::string(what) + ": " + std::to_string(least) + " in 100 calls");
  }
}

// The number of messages that this member sends in a schedule.
std::uint64_t sends(auto schedule) {
  std::uint64_t n = 0;
  while (const auto e = schedule.next()) {
    n += static_cast<std::uint64_t>(e->to != apgas::remote::nobody);
  }
  return n;
}

void expect_frames_of_schedules(const team& all) {
  everywhere(all, apgas::places(), [](const team& t) {
    t.barrier();  // the members agree on their boards
    namespace remote = apgas::remote;
    const std::size_t n = t.size();
    const std::size_t me = t.index();
    const auto together = [](std::size_t a, std::size_t b) {
      return place::same_node(place(static_cast<int>(a)), place(static_cast<int>(b)));
    };
    const remote::host_runs hosts(n, together);
    const remote::span_of run = hosts.run(hosts.index_of_run(me));
    const remote::member_tree tree(hosts, me, 0);
    auto& network = *apgas::sync::place_of(*apgas::scheduler::current_fiber()).endpoint;
    const bool boards = network.network().shares_areas();
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    check(boards || hosts.count() == n || std::getenv("APGAS_TEST_RINGS") == nullptr);
    // With boards, messages lead only from one run to another, except in gather, whose tree is
    // within runs too unless all members are on one host.
    const auto crossing = [&](auto schedule) {
      return boards ? sends(remote::between_runs(run, schedule)) : sends(schedule);
    };
    const auto unless_on_one_host = [&](auto schedule) {
      return boards && hosts.count() == 1 ? 0 : sends(schedule);
    };
    std::vector<std::string> wrong;  // thrown at the end, since all members must make all calls
    expect_frames(wrong, "barrier", crossing(remote::barrier_schedule(hosts, me)), t,
                  [&] { t.barrier(); });
    expect_frames(wrong, "allreduce", crossing(remote::allreduce_schedule(hosts, me, 1, false)), t,
                  [&] { static_cast<void>(t.allreduce(1, std::plus<>())); });
    expect_frames(wrong, "reduce", crossing(remote::up_schedule(tree)), t,
                  [&] { static_cast<void>(t.reduce(1, std::plus<>(), place())); });
    expect_frames(wrong, "broadcast", crossing(remote::down_schedule(tree)), t,
                  [&] { static_cast<void>(t.broadcast(1, place())); });
    expect_frames(wrong, "gather", unless_on_one_host(remote::up_schedule(tree)), t,
                  [&] { static_cast<void>(t.gather(1, place())); });
    const std::vector<int> blocks(n);
    std::vector<int> into(n);
    const auto between_heads = [&] {
      return me == run.first ? sends(remote::heads_alltoall_schedule(hosts, me)) : 0;
    };
    if (!test::places_are_many())  // each call has a message for each pair of them
      expect_frames(wrong, "alltoall",
                    boards ? between_heads() : sends(remote::alltoall_schedule(n, me)), t,
                    [&] { t.alltoall(std::span(blocks), std::span(into)); });
    if (!wrong.empty()) throw std::runtime_error(wrong.front());
  });
}

TEST(team, sends_no_more_than_its_schedules_say) {
  expect_frames_of_schedules(team::world());
  expect_frames_of_schedules(team(place_group(apgas::places())));
}

}  // namespace
