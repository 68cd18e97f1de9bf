// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async_at_group.hpp>
#include <apgas/async_future_at.hpp>
#include <apgas/at.hpp>
#include <apgas/clock.hpp>
#include <apgas/finish.hpp>
#include <apgas/finish_reduce.hpp>
#include <apgas/one_sided.hpp>
#include <apgas/registered_async.hpp>
#include <apgas/semaphore.hpp>
#include <apgas/team.hpp>

#include "place_runtime.hpp"

// Programs over several places whose work and span are known. As in known_span_test.cpp, the clock
// of the profile stands still unless a task calls compute(), so the numbers are exact.
namespace apgas::launch {
namespace {

thread_local std::uint64_t computed = 0;

[[gnu::noinline]] void compute(std::uint64_t ticks) { computed += ticks; }
[[gnu::noinline]] std::uint64_t computed_here() noexcept { return computed; }

class SpanOverPlaces : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  static int places() { return std::get<0>(GetParam()); }

  // Runs f() as main at place 0, with the profile, and reads the report.
  void profile(const std::function<void()>& f) {
    const std::string path = testing::TempDir() + "span_over_places." + std::to_string(getpid());
    base::settings settings;
    settings.workers = std::get<1>(GetParam());
    settings.bind = base::bind_choice::none;
    settings.profile_span = true;
    settings.profile_file = path;
    settings.finish_tree_places = 3;
    comm::local_fabric fabric(places());
    const auto run_place = [&](comm::rank r) {
      place_runtime place({&fabric.at(r), "test"}, settings);
      place.use_profile_clock(&computed_here);
      place.bootstrap();
      place.start();
      if (r == 0) {
        EXPECT_EQ(place.run_main([&f] {
          f();
          return 0;
        }),
                  0);
      } else {
        EXPECT_EQ(place.wait_for_end(), 0);
      }
      place.stop();
    };
    std::vector<std::jthread> others;
    for (comm::rank r = 1; r < places(); ++r) others.emplace_back(run_place, r);
    run_place(0);
    others.clear();
    std::ifstream file(path);
    found.assign(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove(path);
  }

  // The first number behind `name` in the report, in ticks. With `row`, in the row of that site.
  std::uint64_t number(const std::string& name, const std::string& row = "") const {
    const std::size_t from = row.empty() ? 0 : found.find("{\"site\":\"" + row + "\"");
    const std::size_t at = from == std::string::npos ? from : found.find("\"" + name + "\":", from);
    if (at == std::string::npos) return 0;
    return static_cast<std::uint64_t>(
        std::llround(std::strtod(found.c_str() + at + name.size() + 3, nullptr) * 1e9));
  }
  std::uint64_t work() const { return number("work"); }
  std::uint64_t span() const { return number("span"); }
  std::uint64_t on_path(const std::string& site) const { return number("on_critical_path", site); }

  std::string found;
};

std::string line(const char* prefix, int number) {
  return std::string(prefix) + "span_over_places_test.cpp:" + std::to_string(number);
}

TEST_P(SpanOverPlaces, OfAChainOfCallsIsItsWork) {
  int call = 0;
  profile([&call] {
    compute(5);
    for (int i = 0; i < 4 * places(); ++i) {
      call = __LINE__ + 1;
      at(place(i % places()), [] { compute(10); });
      compute(1);
    }
  });
  const auto calls = static_cast<std::uint64_t>(4 * places());
  EXPECT_EQ(work(), 5 + 11 * calls);
  EXPECT_EQ(span(), 5 + 11 * calls);
  if (places() == 1) return;  // the body is no task of its own
  EXPECT_EQ(on_path(line("", call)), calls / places() * (places() - 1) * 10) << found;
}

TEST_P(SpanOverPlaces, OfNestedCallsIsTheirWork) {
  profile([] {
    at(place(places() - 1), [] {
      compute(20);
      at(place(0), [] {
        compute(300);
        finish([] {
          async([] { compute(4'000); });
          async([] { compute(1'000); });
        });
      });
      compute(1);
    });
  });
  EXPECT_EQ(work(), 5'321);
  EXPECT_EQ(span(), 4'321);
}

TEST_P(SpanOverPlaces, OfTasksAtAllPlacesIsTheLongestOne) {
  constexpr auto compute_all = [](std::uint64_t ticks) { compute(ticks); };
  int spawn = 0;
  int outer = 0;
  profile([&] {
    compute(3);
    outer = __LINE__ + 1;
    finish([&] {
      for (int p = 0; p < places(); ++p) {
        for (std::uint64_t n = 1; n <= 20; ++n) {
          const std::uint64_t ticks = n + static_cast<std::uint64_t>(p);
          spawn = __LINE__ + 1;
          async_at(place(p), compute_all, ticks);
        }
      }
    });
    compute(4);
  });
  const auto n = static_cast<std::uint64_t>(places());
  EXPECT_EQ(work(), 7 + 210 * n + 20 * n * (n - 1) / 2);
  EXPECT_EQ(span(), 7 + 20 + n - 1);
  EXPECT_EQ(on_path(line("", spawn)), 20 + n - 1) << found;
  EXPECT_EQ(on_path(line("finish at ", outer)), 20 + n - 1) << found;
  EXPECT_EQ(number("largest_work", line("finish at ", outer)), work() - 7) << found;
  EXPECT_EQ(number("largest_span", line("finish at ", outer)), 20 + n - 1) << found;
}

// A task at each place, which spawns one more at each place, and so on.
void tree(int depth) {
  compute(10);
  if (depth == 0) return;
  for (int p = 0; p < num_places(); ++p) {
    async_at(place(p), [](int d) { tree(d); }, depth - 1);
  }
  compute(1);
}

TEST_P(SpanOverPlaces, OfATreeOverPlacesIsItsDepth) {
  profile([] { finish([] { tree(3); }); });
  const auto n = static_cast<std::uint64_t>(places());
  EXPECT_EQ(work(), 11 * (1 + n + n * n) + 10 * n * n * n);
  EXPECT_EQ(span(), 40);
}

TEST_P(SpanOverPlaces, OfNestedFinishesIsSharedByThem) {
  int inner = 0;
  int outer = 0;
  profile([&] {
    outer = __LINE__ + 1;
    finish([] {
      async_at(place(places() - 1), [] {
        compute(20);
        finish([] {
          for (int p = 0; p < num_places(); ++p) {
            async_at(place(p), [] {
              compute(300);
              async([] { compute(50); });
            });
          }
        });
        compute(4'000);
      });
    });
    inner = outer + 3;
  });
  const auto n = static_cast<std::uint64_t>(places());
  EXPECT_EQ(work(), 4'020 + 350 * n);
  EXPECT_EQ(span(), 4'370);
  EXPECT_EQ(on_path(line("finish at ", outer)), 4'020) << found;
  EXPECT_EQ(on_path(line("finish at ", inner)), 350) << found;
}

// The caller goes on after the body of `at`, but its finish waits for what the body has spawned.
TEST_P(SpanOverPlaces, OfWhatACallLeavesBehindGoesToItsFinish) {
  profile([] {
    finish([] {
      at(place(places() - 1), [] {
        compute(5);
        async([] { compute(1'000); });
      });
      compute(100);
    });
    compute(7);
  });
  EXPECT_EQ(work(), 1'112);
  EXPECT_EQ(span(), 1'012);
}

TEST_P(SpanOverPlaces, OfAFutureOfAnotherPlaceIsThatOfItsTask) {
  profile([] {
    const future<int> f = async_future_at(place(places() - 1), [] {
      compute(200);
      return 1;
    });
    compute(30);
    f.wait();
    compute(1);
  });
  EXPECT_EQ(work(), 231);
  EXPECT_EQ(span(), 201);
}

TEST_P(SpanOverPlaces, OfPhasesIsTheSumOfTheLongestArrivals) {
  constexpr std::uint64_t phases = 8;
  profile([] {
    finish([] {
      const auto c = clock::make();
      for (int p = 0; p < places(); ++p) {
        for (std::uint64_t task = 0; task < 2; ++task) {
          async_at(
              place(p), clocked(c),
              [](const clock& k, std::uint64_t number) {
                for (std::uint64_t phase = 0; phase < phases; ++phase) {
                  compute((phase * 7 + number * 5) % 11);
                  k.advance();
                }
              },
              c, static_cast<std::uint64_t>(p) * 2 + task);
        }
      }
    });
  });
  std::uint64_t work_of_all = 0;
  std::uint64_t longest_of_all = 0;
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    std::uint64_t longest = 0;
    for (std::uint64_t task = 0; task < static_cast<std::uint64_t>(places()) * 2; ++task) {
      const std::uint64_t ticks = (phase * 7 + task * 5) % 11;
      work_of_all += ticks;
      longest = std::max(longest, ticks);
    }
    longest_of_all += longest;
  }
  EXPECT_EQ(work(), work_of_all);
  EXPECT_EQ(span(), longest_of_all);
}

// Runs F(member), which captures nothing, in a task at each place.
template <class F>
void at_all_places(F) {
  finish([] {
    for (int p = 0; p < num_places(); ++p) {
      async_at(place(p), [](std::uint64_t member) { F()(member); }, static_cast<std::uint64_t>(p));
    }
  });
}

// All members go on with the longest path of a member that has entered.
TEST_P(SpanOverPlaces, OfABarrierIsThatOfTheLastMember) {
  profile([] {
    at_all_places([](std::uint64_t member) {
      const team all = team::world();
      for (int round = 0; round < 3; ++round) {
        compute(member == 0 ? 100 : 10);
        all.barrier();
        compute(member == 0 ? 1 : 1'000);
        all.barrier();
      }
    });
  });
  const auto others = static_cast<std::uint64_t>(places() - 1);
  EXPECT_EQ(work(), 3 * (101 + 1'010 * others));
  EXPECT_EQ(span(), others == 0 ? 303 : 3 * 1'100);
}

TEST_P(SpanOverPlaces, OfAReductionIsThatOfTheLastMember) {
  profile([] {
    at_all_places([](std::uint64_t member) {
      compute(10 * (member + 1));
      EXPECT_GE(team::world().allreduce(member, std::plus<>{}), 0u);
      compute(member == 0 ? 500 : 5);
    });
  });
  EXPECT_EQ(span(), 10 * static_cast<std::uint64_t>(places()) + 500);
}

// The members wait for the root, and the root does not wait for them.
TEST_P(SpanOverPlaces, OfABroadcastIsThatOfTheRoot) {
  profile([] {
    at_all_places([](std::uint64_t member) {
      compute(member == 0 ? 200 : 1'000);
      EXPECT_EQ(team::world().broadcast(member + 1, place(0)), 1u);
      compute(member == 0 ? 900 : 50);
    });
  });
  EXPECT_EQ(span(), 200 + 900);
}

TEST_P(SpanOverPlaces, OfOneSidedAccessesIsThatOfTheirCaller) {
  profile([] {
    at_all_places([](std::uint64_t member) {
      compute(40 * (member + 1));
      const auto there = allocate<std::uint64_t>(place(0), 1);
      rput(member, there);
      compute(3);
      EXPECT_EQ(rget(there), member);
      deallocate(there);
    });
  });
  EXPECT_EQ(span(), 40 * static_cast<std::uint64_t>(places()) + 3);
}

INSTANTIATE_TEST_SUITE_P(PlacesAndWorkers, SpanOverPlaces,
                         testing::Combine(testing::Values(1, 2, 4), testing::Values(1, 2)));

}  // namespace
}  // namespace apgas::launch
