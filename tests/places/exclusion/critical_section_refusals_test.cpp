// SPDX-License-Identifier: Apache-2.0
// Calls that may suspend or spawn throw inside a critical section, before anything is sent, and the
// message names the called function.
#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::place;

void expect_refused(const std::string& name, const std::function<void()>& operation) {
  apgas::monitor m;
  const std::function<void()> sections[] = {
      [&] { apgas::atomic(operation); },
      [&] { m.atomic(operation); },
      [&] { apgas::when([] { return true; }, operation); },
      [&] { m.when([&] { return operation(), true; }, [] {}); },
      [&] { apgas::atomic([&] { m.atomic(operation); }); },
  };
  for (const auto& section : sections) {
    std::string said = "nothing";
    try {
      section();
    } catch (const apgas::illegal_operation& refused) {
      said = refused.what();
    }
    if (said.find(name + " ") == 0 && said.find("critical section") != std::string::npos) continue;
    throw std::runtime_error(name + " in a critical section: " + said);
  }
}

// Each call, from each place to each place.
template <class F>
void from_each_to_each(F refusals) {
  for (const place p : test::some_places()) {
    apgas::at(p, [](F f) { std::ranges::for_each(test::some_places(), f); }, refusals);
  }
}

// For each place: tasks that were started although the call threw.
std::atomic<int> begun{0};

void expect_none_begun() {
  for (const place p : apgas::places()) EXPECT_EQ(apgas::at(p, [] { return begun.load(); }), 0);
}

TEST(section_refusals, at_and_tasks) {
  apgas::finish([] {
    from_each_to_each([](place p) {
      const auto f = [] { ++begun; };
      expect_refused("at", [=] { apgas::at(p, f); });
      expect_refused("async_at", [=] { apgas::async_at(p, f); });
      expect_refused("async_at", [=] { apgas::async_at(apgas::places(), f); });
      expect_refused("uncounted_async_at", [=] { apgas::uncounted_async_at(p, f); });
      expect_refused("detached_async", [=] { apgas::detached_async(f); });
      expect_refused("async_future_at", [=] { static_cast<void>(apgas::async_future_at(p, f)); });
      apgas::clocked_finish([=] {
        expect_refused("clocked_async_at", [=] { apgas::clocked_async_at(p, f); });
        apgas::clock::advance_all();  // no refused task is registered
      });
      const auto c = apgas::clock::make();
      const apgas::phaser ph;
      const auto clocked = apgas::clocked(c);
      const auto phased = apgas::phased(ph, apgas::phaser_mode::signal_wait);
      expect_refused("async_at", [=] { apgas::async_at(p, clocked, f); });
      expect_refused("async_at", [=] { apgas::async_at(p, phased, f); });
      expect_refused("async_at", [=] { apgas::async_at(p, clocked, phased, f); });
      expect_refused("async_at", [=] { apgas::async_at(p, apgas::phased(), f); });
      c.advance();
      ph.next();
      c.drop();
      ph.drop();
      apgas::at(p, [] {});  // allowed again outside of the section
    });
  });
  expect_none_begun();
}

struct no_tasks {
  std::size_t process(std::size_t) { return ++begun, 0; }
  std::optional<no_tasks> split() { return std::nullopt; }
  void merge(no_tasks&&) {}
  [[nodiscard]] int result() const { return 0; }
};

TEST(section_refusals, whole_groups) {
  from_each_to_each([](place p) {
    expect_refused("glb", [] { static_cast<void>(apgas::glb(no_tasks())); });
    const auto world = apgas::team::world();
    expect_refused("team::barrier", [=] { world.barrier(); });
    expect_refused("team::allreduce",
                   [=] { static_cast<void>(world.allreduce(1, std::plus<>())); });
    expect_refused("the constructor of team", [] { const apgas::team t(apgas::places()); });
    const auto group = apgas::places();
    const auto make = [=] { return apgas::place_local<int>::make(group, [] { return ++begun; }); };
    expect_refused("place_local::make", [=] { static_cast<void>(make()); });
    expect_refused("dist_array", [] {
      static_cast<void>(apgas::dist_array<int>(10, apgas::distribution::block()));
    });
    if (p != apgas::here()) return;  // other places would do the same
    const auto v = apgas::place_local<int>::make(group, [] { return 0; });
    expect_refused("place_local::destroy", [=] { v.destroy(); });
    v.destroy();
  });
  expect_none_begun();
}

TEST(section_refusals, memory) {
  from_each_to_each([](place p) {
    const auto block = apgas::allocate<int>(p, 2);
    int one = 1;
    const std::span<int> own(&one, 1);
    const auto next = block + 1;
    const auto refused = [](const char* name, const std::function<void()>& operation) {
      expect_refused(name, operation);
    };
    refused("allocate", [=] { static_cast<void>(apgas::allocate<int>(p, 1)); });
    refused("deallocate", [=] { apgas::deallocate(block); });
    refused("rput", [=] { apgas::rput(1, block); });
    refused("rget", [=] { static_cast<void>(apgas::rget(block)); });
    refused("copy", [=] { apgas::copy<int>(own, block); });
    refused("copy", [=] { apgas::copy<int>(block, own); });
    refused("copy", [=] { apgas::copy(block, next, 1); });
    refused("async_rput", [=] { apgas::async_rput(1, block); });
    refused("async_copy", [=] { apgas::async_copy<int>(own, block); });
    refused("async_copy", [=] { apgas::async_copy<int>(block, own); });
    refused("async", [=] { apgas::async_copy(block, next, 1); });
    refused("rput_future", [=] { static_cast<void>(apgas::rput_future(1, block)); });
    refused("rget_future", [=] { static_cast<void>(apgas::rget_future(block)); });
    refused("copy_future", [=] { static_cast<void>(apgas::copy_future<int>(own, block)); });
    refused("copy_future", [=] { static_cast<void>(apgas::copy_future<int>(block, own)); });
    refused("async_future", [=] { static_cast<void>(apgas::copy_future(block, next, 1)); });
    refused("fetch_add", [=] { static_cast<void>(apgas::fetch_add(block, 1)); });
    test::check(apgas::rget(block) == 0 && apgas::rget(next) == 0 && one == 1);
    apgas::deallocate(block);
  });
}

}  // namespace
