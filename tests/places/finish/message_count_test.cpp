// SPDX-License-Identifier: Apache-2.0
// The number of frames of calls, and of messages of a finish over several places: one return for
// each place and quiescence, however many tasks ran.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>

#include <gtest/gtest.h>

#include <apgas/comm/task_list.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_finish.hpp>

#include "check.hpp"

namespace {

using apgas::at;
using apgas::place;

struct counters {
  std::uint64_t returns = 0, requests = 0, grants = 0, messages_from_home = 0;
  std::uint64_t frames_from_home = 0, frames_to_home = 0;
};

counters counters_of(place p) {
  return at(p, [] {
    auto& state = apgas::sync::place_of(*apgas::scheduler::current_fiber());
    const auto sent = state.finishes->count();
    const auto traffic = state.endpoint->traffic_with(0);
    return counters{sent.returns,
                    sent.requests,
                    sent.grants,
                    traffic.messages_received,
                    traffic.frames_received,
                    traffic.frames_sent};
  });
}

// The number of returns that p sends while f runs. The at calls of this function cost none, since
// their replies carry the credit.
template <class F>
std::uint64_t returns_of(place p, F f) {
  const counters before = counters_of(p);
  f();
  return counters_of(p).returns - before.returns;
}

constexpr int thousand = 1000;
std::atomic<int> arrived{0};

struct frames {
  std::uint64_t there = 0, back = 0;
};

// The number of frames between place 0 and the last place while f runs. One frame each way is of
// the calls of counters_of.
template <class F>
frames frames_of(F f) {
  const counters before = counters_of(test::last());
  f();
  const counters after = counters_of(test::last());
  return {after.frames_from_home - before.frames_from_home - 1,
          after.frames_to_home - before.frames_to_home - 1};
}

TEST(message_count, at_takes_one_frame_each_way) {
  if (apgas::num_places() == 1) return;
  const frames sent = frames_of([] {
    for (int i = 0; i < thousand; ++i) at(test::last(), [](std::uint64_t v) { return v; }, 1U);
  });
  EXPECT_EQ(sent.there, std::uint64_t{thousand});
  EXPECT_EQ(sent.back, std::uint64_t{thousand});
}

TEST(message_count, finish_over_a_remote_task_takes_one_frame_each_way) {
  if (apgas::num_places() == 1) return;
  const frames sent = frames_of([] {
    for (int i = 0; i < thousand; ++i) {
      apgas::finish([] { apgas::async_at(test::last(), [] {}); });
    }
  });
  EXPECT_EQ(sent.there, std::uint64_t{thousand});
  EXPECT_EQ(sent.back, std::uint64_t{thousand});
}

// Tasks that follow each other quickly share frames.
TEST(message_count, async_at_takes_at_most_one_frame) {
  if (apgas::num_places() == 1) return;
  const frames sent = frames_of([] {
    apgas::finish([] {
      for (int i = 0; i < thousand; ++i) apgas::async_at(test::last(), [] {});
    });
  });
  EXPECT_GE(sent.there, 1U);
  EXPECT_LE(sent.there, std::uint64_t{thousand});
  EXPECT_LE(sent.back, std::uint64_t{thousand});
}

// Whether two tasks share a frame depends on time; whether they may, does not.
TEST(message_count, tasks_of_finish_reduce_may_share_a_frame) {
  namespace comm = apgas::comm;
  namespace sync = apgas::sync;
  const int sum = apgas::finish_reduce(0, std::plus<>(), [] {
    std::array<std::byte, 256> bytes{};
    comm::growing_frame frame;
    for (const std::uint64_t element : {1, 2}) {
      comm::frame_header header{
          .kind = comm::frame_kind::task, .flags = sync::flag_spawn, .handler = 1};
      comm::out_archive payload;
      payload(std::uint64_t{0}, element);  // the bytes that the tasks have in common come first
      sync::remote_finishes::add_reducer(sync::finish_of(*apgas::scheduler::current_fiber()),
                                         header, payload);
      if (element == 1) {
        comm::write_frame(bytes.data(), header, payload.bytes());
        frame.begin(bytes.data(), header, payload.size());
      } else {
        EXPECT_GT(frame.add(header, payload.bytes(), bytes.size() / 2), 0U);
      }
    }
    for (int i = 0; i < thousand; ++i) apgas::async_at(test::last(), [] { apgas::offer(1); });
  });
  EXPECT_EQ(sum, thousand);
}

TEST(message_count, a_short_async_at_to_the_own_place_takes_no_frame) {
  auto& state = apgas::sync::place_of(*apgas::scheduler::current_fiber());
  const auto before = state.endpoint->traffic_with(state.here);
  std::atomic<int> ran{0};
  const auto counter = apgas::make_global<std::atomic<int>*>(&ran);
  apgas::finish([&] {
    for (int i = 0; i < thousand; ++i) {
      apgas::async_at(apgas::here(), [counter](int k) { **counter += k; }, 1);
    }
  });
  EXPECT_EQ(ran, thousand);
  EXPECT_EQ(state.endpoint->traffic_with(state.here).frames_sent, before.frames_sent);
  counter.forget();
}

TEST(message_count, at_needs_no_return) {
  if (apgas::num_places() == 1) return;  // nothing of a finish leaves its home
  EXPECT_EQ(returns_of(test::last(),
                       [] {
                         for (int i = 0; i < 100; ++i) at(test::last(), [] {});
                       }),
            0U);
}

TEST(message_count, local_tasks_of_a_remote_task_share_one_return) {
  if (apgas::num_places() == 1) return;
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(returns_of(test::last(),
                         [] {
                           apgas::finish([] {
                             apgas::async_at(test::last(), [] {
                               for (int i = 0; i < thousand; ++i)
                                 apgas::async([] { apgas::yield(); });
                             });
                           });
                         }),
              1U);
  }
}

TEST(message_count, overlapping_tasks_share_one_return) {
  if (apgas::num_places() == 1) return;
  at(test::last(), [] { arrived = 0; });
  EXPECT_EQ(returns_of(test::last(),
                       [] {
                         apgas::finish([] {
                           for (int i = 0; i < thousand; ++i) {
                             apgas::async_at(test::last(), [] {
                               ++arrived;
                               while (arrived < thousand) apgas::yield();
                             });
                           }
                         });
                       }),
            1U);
}

TEST(message_count, short_tasks_cost_at_most_one_return_for_each_message) {
  if (apgas::num_places() == 1) return;
  const counters before = counters_of(test::last());
  apgas::finish([] {
    for (int i = 0; i < thousand; ++i) apgas::async_at(test::last(), [] {});
  });
  const counters after = counters_of(test::last());
  const auto returns = after.returns - before.returns;
  const auto messages = after.messages_from_home - before.messages_from_home;
  std::printf("%d tasks came in %llu messages and cost %llu returns\n", thousand,
              static_cast<unsigned long long>(messages), static_cast<unsigned long long>(returns));
  EXPECT_GE(returns, 1U);
  EXPECT_LE(returns, messages);
}

TEST(message_count, local_finishes_send_nothing) {
  const counters before = counters_of(test::last());
  at(test::last(), [] {
    apgas::finish([] {
      for (int i = 0; i < thousand; ++i) apgas::async([] {});
    });
  });
  const counters after = counters_of(test::last());
  EXPECT_EQ(after.returns, before.returns);
  EXPECT_EQ(after.requests, before.requests);
  EXPECT_EQ(after.grants, before.grants);
}

// A chain of tasks uses up its credit, one bit at each hop. Then it asks the home for more, at most
// once in 62 hops.
TEST(message_count, a_long_chain_rarely_asks_for_credit) {
  if (apgas::num_places() < 4) return;  // the chain needs two places besides the home
  struct hop {
    int left;
    void operator()() const {
      if (left == 0) return;
      const int here = apgas::here().id();
      apgas::async_at(place(here == apgas::num_places() - 1 ? 1 : here + 1), hop{left - 1});
    }
  };
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  for (place p : apgas::places()) before += counters_of(p).requests;
  apgas::finish([] { apgas::async_at(place(1), hop{6200}); });
  for (place p : apgas::places()) after += counters_of(p).requests;
  EXPECT_GE(after - before, 50U);
  EXPECT_LE(after - before, 130U);
}

// A round is a frame to each place and one back.
TEST(message_count, algorithms_over_arrays_take_their_rounds) {
  if (apgas::num_places() == 1) return;
  namespace parallel = apgas::parallel;
  const auto value = [](std::size_t i) { return static_cast<long>(i * 7919 % 10'007); };
  const apgas::dist_array<long> a(10'000, apgas::distribution::block(), value);
  const auto expect_rounds = [](std::uint64_t rounds, const frames& sent) {
    EXPECT_EQ(sent.there, rounds);
    EXPECT_EQ(sent.back, rounds);
  };
  expect_rounds(1, frames_of([&] { parallel::reduce(a); }));
  expect_rounds(1, frames_of([&] { parallel::min_element(a); }));
  expect_rounds(1, frames_of([&] { parallel::histogram(a, 10'007); }));
  const frames sorted = frames_of([&] { parallel::sort(a); });
  std::printf("sort: %d frames there, %d back\n", static_cast<int>(sorted.there),
              static_cast<int>(sorted.back));
  EXPECT_LE(sorted.there, 4U + 4U + 4U);  // the steps, the search, and the exchange
  EXPECT_LE(sorted.back, 4U + 4U + 4U);
  expect_rounds(2, frames_of([&] { parallel::inclusive_scan(a, a); }));
  a.destroy();
}

}  // namespace
