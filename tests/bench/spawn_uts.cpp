// SPDX-License-Identifier: Apache-2.0

// The tree T1 of the Unbalanced Tree Search benchmark, with one task for each node of the tree: the
// search of apps/uts, its serial program, and the same tasks with the peers.

#include <array>
#include <string>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"
#include "uts/search.hpp"
#include "uts/serial.hpp"

namespace bench {
namespace {

uts::search_options tree_of(int depth, bool portable) {
  uts::search_options o;
  o.portable = portable;
  o.tree = {.type = uts::tree_type::geometric,
            .root_branching = 4,
            .seed = 19,
            .shape = uts::tree_shape::fixed,
            .depth = depth};
  return o;
}

uts::counts serial(const uts::search_options& o) { return uts::search_serially(o.make_tree()); }

uts::counts ours(const uts::search_options& o) { return uts::search_by_tasks(o).total; }

// The state that the tasks of a peer share: counts for each thread.
struct peer_search {
  uts::tree tree;
  struct alignas(64) padded {
    uts::counts value;
  };
  std::array<padded, 2> found{};

  explicit peer_search(const uts::search_options& o) : tree(o.make_tree()) {}
  [[nodiscard]] uts::counts total() const {
    return uts::root_alone + found[0].value + found[1].value;
  }
};

#if defined(BENCH_TBB)
void explore_grouped(peer_search& s, tbb::task_group& group, const uts::node& n) {
  const int children = s.tree.num_children(n);
  const auto thread = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
  s.found[thread].value.add_children(n, children);
  for (int i = 0; i < children; ++i) {
    group.run([&s, &group, child = s.tree.child(n, i)] { explore_grouped(s, group, child); });
  }
}

uts::counts grouped(const uts::search_options& o) {
  peer_search s(o);
  tbb::task_group group;
  explore_grouped(s, group, s.tree.root());
  group.wait();
  return s.total();
}
#endif

#if defined(BENCH_OPENMP)
extern "C" int omp_get_thread_num();

// A task waits for its children, as in the UTS of the Barcelona OpenMP Tasks Suite. In libgomp 12 a
// task that was run at once may end while another thread still reads its record, which is on its
// stack, to end the last of its children; a taskgroup around all tasks therefore crashes.
void explore_tasked(peer_search& s, const uts::node& n) {
  const int children = s.tree.num_children(n);
  s.found[static_cast<std::size_t>(omp_get_thread_num())].value.add_children(n, children);
  for (int i = 0; i < children; ++i) {
    const uts::node child = s.tree.child(n, i);
#pragma omp task firstprivate(child) shared(s)
    explore_tasked(s, child);
  }
  if (children > 0) {
#pragma omp taskwait
  }
}

uts::counts tasked(const uts::search_options& o) {
  peer_search s(o);
  explore_tasked(s, s.tree.root());
  return s.total();
}
#endif

benchmark tree_search(const std::string& name, const uts::search_options& o) {
  const uts::counts expected = uts::search_by_path(o.tree);
  benchmark b{name + " to depth " + std::to_string(o.tree.depth),
              "node",
              static_cast<double>(expected.nodes),
              0,
              {}};
  add_serial(b, "serial", serial, o, expected);
  add_ours(b, "apgas async", ours, o, expected);
#if defined(BENCH_TBB)
  add_peer(b, "TBB task_group", [](int w) { return with_tbb(w, grouped); }, o, expected);
#endif
#if defined(BENCH_OPENMP)
  add_peer(b, "OpenMP task", [](int w) { return with_openmp(w, tasked); }, o, expected);
#endif
  return b;
}

}  // namespace

benchmark uts_tree(const sizes& s) { return tree_search("uts", tree_of(s.uts_depth, false)); }

benchmark uts_tree_portable(const sizes& s) {
  return tree_search("uts, portable SHA-1", tree_of(s.uts_depth, true));
}

}  // namespace bench
