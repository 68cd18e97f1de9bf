// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "strand.hpp"

// Invented runs whose work and span are known. `pause(n)` stands for n ticks of computation.
namespace apgas::scheduler {
namespace {

constexpr span_costs free_of_charge{};
enum sites : site_number { main_site, child_site, other_site, outer_finish, inner_finish };

span_ticks share_of(const path& p, path_share::of kind, site_number site) {
  for (const path_share& s : p.shares()) {
    if (s.kind == kind && s.site == site) return s.ticks;
  }
  return 0;
}

// A finish around `body`, which gets its scope, in the task `owner`.
void in_finish(strand& owner, site_number site, const std::function<void(span_scope&)>& body) {
  span_scope scope;
  owner.open(scope);
  body(scope);
  owner.join(scope, site, free_of_charge);
}

void child_of(const strand& parent, span_scope& scope, site_number site,
              const std::function<void(strand&)>& body) {
  strand child = parent.spawn(site, free_of_charge);
  body(child);
  child.end(scope);
}

TEST(Span, OfASequenceIsItsWork) {
  strand main(main_site);
  for (int i = 0; i < 10; ++i) {
    in_finish(main, outer_finish, [&](span_scope& scope) {
      child_of(main, scope, child_site, [](strand& child) { child.pause(7); });
    });
    main.pause(3);
  }
  EXPECT_EQ(main.all_work(), 100);
  EXPECT_EQ(main.own_work(), 30);
  EXPECT_EQ(main.critical_path().length(), 100);
  EXPECT_EQ(share_of(main.critical_path(), path_share::of::task, child_site), 70);
  EXPECT_EQ(share_of(main.critical_path(), path_share::of::task, main_site), 30);
  EXPECT_EQ(share_of(main.critical_path(), path_share::of::finish, outer_finish), 70);
}

TEST(Span, OfIndependentTasksIsTheLongestOne) {
  strand main(main_site);
  main.pause(5);
  in_finish(main, outer_finish, [&](span_scope& scope) {
    for (span_ticks n = 1; n <= 10; ++n) {
      child_of(main, scope, n == 10 ? other_site : child_site,
               [n](strand& child) { child.pause(n * 10); });
    }
    main.pause(2);
  });
  EXPECT_EQ(main.all_work(), 5 + 550 + 2);
  EXPECT_EQ(main.critical_path().length(), 105);
  EXPECT_EQ(share_of(main.critical_path(), path_share::of::task, other_site), 100);
  EXPECT_EQ(share_of(main.critical_path(), path_share::of::task, child_site), 0);
}

TEST(Span, ContainsTheSpawnerUpToTheSpawn) {
  strand main(main_site);
  in_finish(main, outer_finish, [&](span_scope& scope) {
    for (int i = 0; i < 10; ++i) {
      main.pause(10);
      child_of(main, scope, child_site, [](strand& child) { child.pause(50); });
    }
  });
  EXPECT_EQ(main.all_work(), 600);
  EXPECT_EQ(main.critical_path().length(), 150);
}

// fib(n): a task for fib(n - 1), then fib(n - 2) itself, each call for one tick.
span_ticks calls_of_fib(int n) { return n < 2 ? 1 : 1 + calls_of_fib(n - 1) + calls_of_fib(n - 2); }
void fib(strand& self, int n) {
  self.pause(1);
  if (n < 2) return;
  in_finish(self, inner_finish, [&](span_scope& scope) {
    child_of(self, scope, child_site, [n](strand& child) { fib(child, n - 1); });
    fib(self, n - 2);
  });
}

TEST(Span, OfFibIsItsDepth) {
  for (const int n : {1, 2, 5, 12}) {
    strand main(main_site);
    fib(main, n);
    EXPECT_EQ(main.all_work(), calls_of_fib(n));
    EXPECT_EQ(main.critical_path().length(), static_cast<span_ticks>(n));
    EXPECT_EQ(main.critical_path().in_finishes(), static_cast<span_ticks>(n - 1));
  }
}

// A loop over [0, n) that halves the range, with one tick for each half and `body` for each
// element.
void loop(strand& self, int n, span_ticks body) {
  if (n == 1) return self.pause(body);
  self.pause(1);
  in_finish(self, inner_finish, [&](span_scope& scope) {
    child_of(self, scope, child_site, [&](strand& child) { loop(child, n / 2, body); });
    loop(self, n / 2, body);
  });
}

TEST(Span, OfALoopIsItsDepthAndOneBody) {
  strand main(main_site);
  loop(main, 1024, 100);
  EXPECT_EQ(main.all_work(), 1024 * 100 + 1023);
  EXPECT_EQ(main.critical_path().length(), 10 + 100);
}

TEST(Span, OfAPipelineIsItsStagesAndItems) {
  constexpr std::size_t stages = 4;
  constexpr std::size_t items = 20;
  strand main(main_site);
  in_finish(main, outer_finish, [&](span_scope& scope) {
    std::vector<span_event> done(stages);  // the future of the last item, for each stage
    for (std::size_t item = 0; item < items; ++item) {
      for (std::size_t stage = 0; stage < stages; ++stage) {
        child_of(main, scope, child_site, [&](strand& child) {
          if (stage > 0) child.receive(done[stage - 1], free_of_charge);
          child.receive(done[stage], free_of_charge);
          child.pause(10);
          child.signal(done[stage]);
        });
      }
    }
  });
  EXPECT_EQ(main.all_work(), stages * items * 10);
  EXPECT_EQ(main.critical_path().length(), (stages + items - 1) * 10);
}

TEST(Span, OfPhasesIsTheSumOfTheLongestArrivals) {
  constexpr std::size_t tasks = 5;
  strand main(main_site);
  span_scope scope;
  main.open(scope);
  std::vector<strand> all;
  for (std::size_t i = 0; i < tasks; ++i) all.push_back(main.spawn(child_site, free_of_charge));
  span_ticks expected = 0;
  span_ticks work = 0;
  span_event clock;
  for (span_ticks phase = 1; phase <= 10; ++phase) {
    span_ticks longest = 0;
    for (std::size_t i = 0; i < tasks; ++i) {
      const span_ticks ticks = (phase * 7 + i * 5) % 11;
      all[i].pause(ticks);
      all[i].signal(clock);
      work += ticks;
      longest = std::max(longest, ticks);
    }
    for (strand& each : all) each.receive(clock, free_of_charge);
    expected += longest;
  }
  for (const strand& each : all) each.end(scope);
  main.join(scope, outer_finish, free_of_charge);
  EXPECT_EQ(main.all_work(), work);
  EXPECT_EQ(main.critical_path().length(), expected);
}

TEST(Finishes, ShareThePathWithoutThoseInsideThem) {
  strand main(main_site);
  main.pause(1);
  in_finish(main, outer_finish, [&](span_scope& outer) {
    child_of(main, outer, child_site, [](strand& child) {
      child.pause(20);
      in_finish(child, inner_finish, [&](span_scope& inner) {
        child_of(child, inner, other_site, [](strand& grandchild) { grandchild.pause(300); });
      });
      child.pause(4'000);
    });
  });
  const path& p = main.critical_path();
  EXPECT_EQ(p.length(), 4'321);
  EXPECT_EQ(share_of(p, path_share::of::finish, inner_finish), 300);
  EXPECT_EQ(share_of(p, path_share::of::finish, outer_finish), 4'020);
  EXPECT_EQ(p.in_finishes(), 4'320);
}

TEST(Finishes, HaveWorkAndSpanOfTheirOwn) {
  strand main(main_site);
  main.pause(1'000);
  span_scope scope;
  main.open(scope);
  for (int i = 0; i < 8; ++i) {
    child_of(main, scope, child_site, [](strand& child) { child.pause(100); });
  }
  main.pause(30);
  EXPECT_EQ(main.work_of(scope), 830);
  EXPECT_EQ(main.join(scope, outer_finish, free_of_charge), 100);
  EXPECT_EQ(main.all_work(), 1'830);
}

TEST(Finishes, CountThePathThatComesFromOutsideOnce) {
  strand main(main_site);
  strand elsewhere(other_site);
  elsewhere.pause(500);
  span_event future;
  elsewhere.signal(future);
  in_finish(main, outer_finish, [&](span_scope& scope) {
    child_of(main, scope, child_site, [&](strand& child) {
      child.pause(1);
      child.receive(future, free_of_charge);
      child.pause(10);
    });
  });
  EXPECT_EQ(main.critical_path().length(), 510);
  EXPECT_LE(main.critical_path().in_finishes(), 510U);
}

TEST(Finishes, MayBeOpenedByATaskThatComesFromElsewhere) {
  strand elsewhere(other_site);
  elsewhere.pause(900);
  span_scope scope;
  elsewhere.open(scope);
  child_of(elsewhere, scope, child_site, [](strand& child) { child.pause(1); });
  strand main(main_site);
  main.pause(10);
  EXPECT_EQ(main.work_of(scope), 1);
  EXPECT_EQ(main.join(scope, outer_finish, free_of_charge), 1);
  EXPECT_EQ(main.critical_path().length(), 901);
  EXPECT_LE(main.critical_path().in_finishes(), 901U);
}

TEST(Burden, IsAddedForSpawnsAndResumptions) {
  constexpr span_costs costs{.spawn = 1'000, .resume = 100};
  strand main(main_site);
  span_scope scope;
  main.open(scope);
  strand child = main.spawn(child_site, costs);
  child.pause(10);
  child.end(scope);
  main.pause(40);
  main.join(scope, outer_finish, costs);
  EXPECT_EQ(main.critical_path().length(), 40);  // the spawner is longer
  const path& burdened = main.paths().burdened;
  EXPECT_EQ(burdened.length(), 1'110);
  EXPECT_EQ(share_of(burdened, path_share::of::task, main_site), 0);
  EXPECT_EQ(share_of(burdened, path_share::of::task, child_site), 10);
  EXPECT_EQ(share_of(burdened, path_share::of::scheduling, child_site), 1'000);
  EXPECT_EQ(share_of(burdened, path_share::of::scheduling, main_site), 100);
}

// The path that comes with a resumption must be longer together with it.
TEST(Burden, OfAResumptionDoesNotCountOnAPathThatDoesNotWait) {
  constexpr span_costs costs{.resume = 100};
  for (const span_ticks own : {299U, 300U, 301U}) {
    strand other(other_site);
    other.pause(200);
    span_event event;
    other.signal(event);
    strand main(main_site);
    main.pause(own);
    main.receive(event, costs);
    const path& burdened = main.paths().burdened;
    EXPECT_EQ(burdened.length(), std::max<span_ticks>(own, 300));
    EXPECT_EQ(share_of(burdened, path_share::of::scheduling, main_site), own < 300 ? 100U : 0U);
    EXPECT_EQ(share_of(burdened, path_share::of::task, main_site), own < 300 ? 0U : own);
  }
}

TEST(Burden, IsNotAddedToAPathWithoutScheduling) {
  strand main(main_site);
  main.pause(12);
  EXPECT_EQ(main.paths().burdened.length(), 12);
}

TEST(Shares, OfTasksAddUpToTheLength) {
  strand main(main_site);
  fib(main, 9);
  in_finish(main, outer_finish, [&](span_scope& scope) {
    child_of(main, scope, other_site, [](strand& child) { fib(child, 7); });
    main.pause(3);
  });
  span_ticks sum = 0;
  for (const path_share& s : main.critical_path().shares()) {
    if (s.kind == path_share::of::task) sum += s.ticks;
  }
  EXPECT_EQ(sum, main.critical_path().length());
}

TEST(Shares, AreNotChangedThroughACopy) {
  path first;
  first.extend(child_site, 5);
  first.extend(other_site, 6);
  path second = first;
  second.extend(child_site, 100);
  second.add_to_finish(outer_finish, 1);
  EXPECT_EQ(share_of(first, path_share::of::task, child_site), 5);
  EXPECT_EQ(share_of(first, path_share::of::finish, outer_finish), 0);
  EXPECT_EQ(share_of(second, path_share::of::task, child_site), 105);
}

// Copying all shares for each new site would take minutes here.
TEST(Shares, OfManySitesGrowInLittleTime) {
  constexpr site_number sites = 300'000;
  path whole;
  path half;
  for (site_number s = 0; s < sites; ++s) {
    if (s == sites / 2) half = whole;
    whole.extend(s, 1 + s % 5);
    if (s % 2 == 0) whole.add_to_finish(s, 1);
  }
  half.extend(7, 100);
  EXPECT_EQ(whole.shares().size(), sites + sites / 2);
  EXPECT_EQ(half.shares().size(), sites / 2 + sites / 4);
  EXPECT_EQ(share_of(whole, path_share::of::task, 7), 3);
  EXPECT_EQ(share_of(half, path_share::of::task, 7), 103);
  EXPECT_EQ(share_of(whole, path_share::of::task, sites - 1), 5);
  EXPECT_EQ(share_of(whole, path_share::of::finish, sites - 2), 1);
}

TEST(Strand, KnowsWhetherItRuns) {
  strand main(main_site);
  EXPECT_FALSE(main.runs());
  main.run();
  EXPECT_TRUE(main.runs());
  main.pause(1);
  EXPECT_FALSE(main.runs());
}

}  // namespace
}  // namespace apgas::scheduler
