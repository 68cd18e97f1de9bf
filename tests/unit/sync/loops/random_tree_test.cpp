// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/async.hpp>
#include <apgas/base/random.hpp>
#include <apgas/forall.hpp>
#include <apgas/fork_join.hpp>
#include <apgas/scheduler/stacks.hpp>

#include "support/scheduler_fixture.hpp"

// Random programs of finish, async, fork_join, forall, yield and throw. They are run by tasks, and
// the result is compared with that of a sequential interpretation: every statement runs exactly
// once, and every construct throws exactly the expected exceptions. Set APGAS_TEST_SEED to the
// printed seed to repeat a failure.
namespace apgas::test {
namespace {

enum class form { visit, yields, async, finish, fork_join, forall, burst };

// A statement of a program. It runs its children one after the other (async, finish), as branches,
// or as iterations. If `throws`, the body throws at its end; every form but async and burst catches
// that exception.
struct statement {
  form what = form::visit;
  int id = 0;
  bool throws = false;
  std::vector<statement> children;
  std::vector<int> expected;  // ids of the statements whose exceptions this form throws
};

class generator {
 public:
  explicit generator(std::uint64_t seed) : random_(seed) {}

  statement program() {
    statement root = make(form::finish, 7);
    std::vector<int> ignored;
    expect(root, ignored);
    return root;
  }
  int statements() const { return next_id_; }

 private:
  statement make(form what, int depth) {
    statement s;
    s.what = what;
    s.id = next_id_++;
    if (what == form::visit || what == form::yields || what == form::burst) return s;
    s.throws = random_.below(10) == 0;
    const auto most = what == form::fork_join ? 2u : 5u;
    const auto n = what == form::fork_join ? 2u : random_.below(most + 1);
    for (unsigned i = 0; i < n; ++i) {
      const bool leaf = depth == 0 || next_id_ > 3000;
      s.children.push_back(make(leaf ? any_leaf() : any_form(), depth - 1));
    }
    return s;
  }
  form any_leaf() { return random_.below(4) == 0 ? form::yields : form::visit; }
  form any_form() {
    const auto dice = random_.below(40);
    if (dice == 0) return form::burst;
    if (dice < 16) return form::async;
    if (dice < 22) return form::finish;
    if (dice < 28) return form::fork_join;
    if (dice < 33) return form::forall;
    return any_leaf();
  }

  // The sequential interpretation. `failures` collects what the tasks of the innermost finish
  // throw.
  void expect(statement& s, std::vector<int>& failures) {
    std::vector<int> own;
    std::vector<int>& of_tasks = s.what == form::finish ? own : failures;
    for (statement& c : s.children) expect(c, of_tasks);
    if (s.what == form::async) {
      if (s.throws) failures.push_back(s.id);
      return;
    }
    if (s.throws && s.what == form::finish) own.push_back(s.id);
    if (s.throws && s.what == form::fork_join) own.push_back(s.id);
    if (s.throws && s.what == form::forall && !s.children.empty()) own.push_back(s.id);
    std::ranges::sort(own);
    s.expected = own;
  }

  base::random_engine random_;
  int next_id_ = 0;
};

constexpr int burst_size = 300;  // enough to make the spawner drain

class interpreter {
 public:
  explicit interpreter(int statements) : visits_(static_cast<std::size_t>(statements)) {}

  void run(const statement& s) {
    switch (s.what) {
      case form::visit:
        return visit(s);
      case form::yields:
        scheduler::yield();
        return visit(s);
      case form::async:
        return async([this, &s] { body(s); });
      case form::burst:
        visit(s);
        for (int i = 0; i < burst_size; ++i) async([this] { ++burst_; });
        return;
      case form::finish:
        return catching(s, [&] { finish([&] { body(s); }); });
      case form::fork_join:
        return catching(s, [&] {
          fork_join(
              [this, &s] {
                run(s.children[0]);
                if (s.throws) throw s.id;
              },
              [this, &s] {
                visit(s);
                run(s.children[1]);
              });
        });
      case form::forall:
        visit(s);
        return catching(s, [&] {
          const int n = static_cast<int>(s.children.size());
          forall(
              0, n,
              [&](int i) {
                run(s.children[static_cast<std::size_t>(i)]);
                if (i == 0 && s.throws) throw s.id;
              },
              1);
        });
    }
  }

  void check(const statement& s, int& bursts) const {
    ASSERT_EQ(visits_[static_cast<std::size_t>(s.id)], 1) << "statement " << s.id;
    bursts += s.what == form::burst ? 1 : 0;
    for (const statement& c : s.children) check(c, bursts);
  }
  int burst() const { return burst_; }
  int wrong() const { return wrong_; }

 private:
  void visit(const statement& s) { ++visits_[static_cast<std::size_t>(s.id)]; }
  void body(const statement& s) {
    visit(s);
    for (const statement& c : s.children) run(c);
    if (s.throws) throw s.id;
  }
  template <class F>
  void catching(const statement& s, F f) {
    std::vector<int> caught;
    try {
      f();
    } catch (const multiple_exceptions& e) {
      for (const task_exception& one : e) {
        try {
          std::rethrow_exception(one);
        } catch (int id) {
          caught.push_back(id);
        }
      }
    }
    std::ranges::sort(caught);
    if (caught != s.expected) ++wrong_;
  }

  std::vector<std::atomic<int>> visits_;
  std::atomic<int> burst_{0};
  std::atomic<int> wrong_{0};
};

std::uint64_t first_seed() {
  const char* given = std::getenv("APGAS_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

struct setting {
  const char* name;
  int workers;
  bool asymmetric;
};

class RandomTree : public testing::TestWithParam<setting> {};
INSTANTIATE_TEST_SUITE_P(Settings, RandomTree,
                         testing::Values(setting{"One", 1, true}, setting{"Two", 2, true},
                                         setting{"Four", 4, true}, setting{"OneFenced", 1, false},
                                         setting{"TwoFenced", 2, false},
                                         setting{"FourFenced", 4, false}),
                         [](const auto& test) { return test.param.name; });

TEST_P(RandomTree, BehavesAsItsSequentialInterpretation) {
  static constexpr int programs = scaled(100, 20);
  const std::uint64_t seed = first_seed();
  std::printf("APGAS_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  scheduler::config c = task_place::config_for(GetParam().workers);
  c.asymmetric_fence = GetParam().asymmetric;
  const std::size_t stacks = scheduler::stacks_in_use();
  {
    task_place place(c);
    for (int i = 0; i < programs; ++i) {
      SCOPED_TRACE("program " + std::to_string(i) + " of seed " + std::to_string(seed));
      generator made(seed + static_cast<std::uint64_t>(i));
      const statement program = made.program();
      interpreter machine(made.statements());
      place.run([&] { machine.run(program); });
      EXPECT_EQ(machine.wrong(), 0);
      int bursts = 0;
      machine.check(program, bursts);
      EXPECT_EQ(machine.burst(), bursts * burst_size);
    }
  }
  EXPECT_EQ(scheduler::stacks_in_use(), stacks);
}

}  // namespace
}  // namespace apgas::test
