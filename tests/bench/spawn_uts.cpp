// SPDX-License-Identifier: Apache-2.0

// The tree T1 of the Unbalanced Tree Search benchmark, with a task per node: the search of apps/uts,
// its serial program, and the same tasks with the peers.

#include <array>
#include <string>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"
#include "uts/search.hpp"
#include "uts/serial.hpp"

namespace bench {
namespace {

uts::search_options tree_of(int depth) {
  uts::search_options o;
  o.tree = {.type = uts::tree_type::geometric,
            .root_branching = 4,
            .seed = 19,
            .shape = uts::tree_shape::fixed,
            .depth = depth};
  return o;
}

uts::counts serial(int depth) { return uts::search_serially(tree_of(depth).make_tree()); }

uts::counts ours(int depth) { return uts::search_in_parallel(tree_of(depth)).total; }

// What the tasks of a peer share: counts by thread.
struct peer_search {
  uts::tree tree;
  struct alignas(64) padded {
    uts::counts value;
  };
  std::array<padded, 2> found{};

  explicit peer_search(int depth) : tree(tree_of(depth).make_tree()) {}
  [[nodiscard]] uts::counts total() const { return found[0].value + found[1].value; }
};

#if defined(BENCH_TBB)
void explore_grouped(peer_search& s, tbb::task_group& group, const uts::node& n) {
  const int children = s.tree.num_children(n);
  const auto thread = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
  s.found[thread].value.add(n, children);
  for (int i = 0; i < children; ++i) {
    group.run([&s, &group, child = s.tree.child(n, i)] { explore_grouped(s, group, child); });
  }
}

uts::counts grouped(int depth) {
  peer_search s(depth);
  tbb::task_group group;
  explore_grouped(s, group, s.tree.root());
  group.wait();
  return s.total();
}
#endif

#if defined(BENCH_OPENMP)
extern "C" int omp_get_thread_num();

void explore_tasked(peer_search& s, const uts::node& n) {
  const int children = s.tree.num_children(n);
  s.found[static_cast<std::size_t>(omp_get_thread_num())].value.add(n, children);
  for (int i = 0; i < children; ++i) {
    const uts::node child = s.tree.child(n, i);
#pragma omp task firstprivate(child) shared(s)
    explore_tasked(s, child);
  }
}

uts::counts tasked(int depth) {
  peer_search s(depth);
#pragma omp taskgroup
  explore_tasked(s, s.tree.root());
  return s.total();
}
#endif

}  // namespace

benchmark uts_tree(const sizes& s) {
  const uts::counts expected = uts::search_by_path(tree_of(s.uts_depth).tree);
  benchmark b{"uts to depth " + std::to_string(s.uts_depth), "node",
              static_cast<double>(expected.nodes), 0, {}};
  add_serial(b, "serial", serial, s.uts_depth, expected);
  add_ours(b, "apgas async", ours, s.uts_depth, expected);
#if defined(BENCH_TBB)
  add_peer(b, "TBB task_group", [](int w) { return with_tbb(w, grouped); }, s.uts_depth, expected);
#endif
#if defined(BENCH_OPENMP)
  add_peer(b, "OpenMP task", [](int w) { return with_openmp(w, tasked); }, s.uts_depth, expected);
#endif
  return b;
}

}  // namespace bench
