// SPDX-License-Identifier: Apache-2.0
// Random trees of tasks over all places, compared with a sequential traversal of the same tree.
// APGAS_TEST_SEED=n runs one tree, APGAS_TEST_TREES=n that many.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

#include "check.hpp"

namespace {

using apgas::place;
using random_engine = apgas::base::random_engine;

struct failed_node : std::runtime_error {
  using std::runtime_error::runtime_error;
};
const apgas::exception_types<failed_node> sent_as_themselves;

// How the tasks of a subtree report: they offer their values, or some of them throw.
enum class report : std::uint8_t { values, failures };

enum class edge : std::uint8_t {
  async,
  async_at,
  at,
  future,
  branches,
  inner_values,
  inner_failures,
  edges
};

struct node {
  std::uint64_t seed = 0;
  int depth = 0;
  report kind = report::values;
};

// What a tree node does follows from its seed, in the tasks and in the model.
struct plan {
  explicit plan(const node& n) : random(n.seed), value(static_cast<long>(random() % 1000)) {
    throws = n.kind == report::failures && random.below(4) == 0;
    children = n.depth == 0 ? 0 : static_cast<int>(random.below(5));
  }
  std::pair<edge, node> child(const node& parent) {
    const auto way = static_cast<edge>(random.below(static_cast<std::uint32_t>(edge::edges)));
    node n{random(), parent.depth - 1, parent.kind};
    if (way == edge::inner_values) n.kind = report::values;
    if (way == edge::inner_failures) n.kind = report::failures;
    return {way, n};
  }

  random_engine random;
  long value;
  bool throws;
  int children;
};

// The sum of the values in the tree, or the number of tree nodes that throw.
long model(const node& n) {
  plan p(n);
  long sum = n.kind == report::values ? p.value : p.throws;
  for (int i = 0; i < p.children; ++i) {
    const auto [way, child] = p.child(n);
    if (way != edge::inner_values && way != edge::inner_failures) sum += model(child);
  }
  return sum;
}

std::uint64_t tasks_in(const node& n) {
  plan p(n);
  std::uint64_t sum = 1;
  for (int i = 0; i < p.children; ++i) sum += tasks_in(p.child(n).second);
  return sum;
}

void grow(const node& n);

long failures_of(const node& n) {
  try {
    apgas::finish([n] { grow(n); });
  } catch (const apgas::multiple_exceptions& several) {
    for (const auto& e : several) {
      try {
        std::rethrow_exception(e.exception());
      } catch (const failed_node&) {
      }
    }
    return static_cast<long>(several.size());
  }
  return 0;
}

// Turns an exception of a call or future into an exception of a task again.
template <class F>
void pass_failure_on(F f) {
  try {
    f();
  } catch (const failed_node& e) {
    apgas::async([text = std::string(e.what())] { throw failed_node(text); });
  }
}

void follow(edge way, const node& n, place there) {
  switch (way) {
    case edge::async:
      apgas::async([n] { grow(n); });
      break;
    case edge::async_at:
      apgas::async_at(there, [n] { grow(n); });
      break;
    case edge::at:
      pass_failure_on([&] { apgas::at(there, [n] { grow(n); }); });
      break;
    case edge::future:
      pass_failure_on([&] { apgas::async_future_at(there, [n] { grow(n); }).get(); });
      break;
    case edge::branches:
      apgas::fork_join([n] { pass_failure_on([n] { grow(n); }); }, [] { apgas::yield(); });
      break;
    case edge::inner_values:
      test::check(apgas::finish_reduce(0L, std::plus<>(), [n] { grow(n); }) == model(n));
      break;
    case edge::inner_failures:
      test::check(failures_of(n) == model(n));
      break;
    case edge::edges:
      break;
  }
}

void grow(const node& n) {
  plan p(n);
  if (n.kind == report::values) apgas::offer(p.value);
  for (int i = 0; i < p.children; ++i) {
    const auto [way, child] = p.child(n);
    follow(way, child,
           place(static_cast<int>(child.seed % static_cast<unsigned>(apgas::num_places()))));
  }
  if (p.throws) throw failed_node(std::to_string(n.seed));
}

TEST(random_tree, agrees_with_the_sequential_model) {
  const unsigned long fixed = test::number_from_environment("APGAS_TEST_SEED", 0);
  const unsigned long trees =
      fixed != 0 ? 1 : test::number_from_environment("APGAS_TEST_TREES", 100 / test::slower);
  std::uint64_t tasks = 0;
  for (unsigned long i = 0; i < trees; ++i) {
    const std::uint64_t seed = test::random_seed();
    const node values{seed, 7, report::values};
    const node failures{seed, 7, report::failures};
    tasks += tasks_in(values) + tasks_in(failures);
    ASSERT_EQ(apgas::finish_reduce(0L, std::plus<>(), [values] { grow(values); }), model(values));
    ASSERT_EQ(failures_of(failures), model(failures));
  }
  std::printf("%llu tasks in %lu trees\n", static_cast<unsigned long long>(tasks), 2 * trees);
}

}  // namespace
