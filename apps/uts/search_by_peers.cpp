// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#if defined(APPS_TBB)
#include <oneapi/tbb/task_group.h>
#endif

#include <apgas/apgas.hpp>

#include "support/stopwatch.hpp"
#include "support/tbb_arena.hpp"
#include "uts/search_recursively.hpp"

namespace uts {
namespace {

[[maybe_unused]] counts sum(counts found, const std::vector<counts>& of_child) {
  for (const counts& each : of_child) found = found + each;
  return found;
}

#if defined(_OPENMP)
counts explore_by_openmp(const tree& t, const node& n) {
  counts found;
  const int children = t.num_children(n);
  if (children == 0) return found;
  found.add_children(n, children);
  std::vector<counts> of_child(static_cast<std::size_t>(children));
  for (int i = 0; i < children; ++i) {
    counts* const result = &of_child[static_cast<std::size_t>(i)];
    const node child = t.child(n, i);
#pragma omp task default(none) shared(t) firstprivate(result, child)
    *result = explore_by_openmp(t, child);
  }
#pragma omp taskwait
  return sum(found, of_child);
}

counts search_by_openmp(const tree& t, int threads) {
  counts found;
#pragma omp parallel num_threads(threads)
#pragma omp single
  found = explore_by_openmp(t, t.root());
  return found;
}
#endif

#if defined(APPS_TBB)
counts explore_by_tbb(const tree& t, const node& n) {
  counts found;
  const int children = t.num_children(n);
  if (children == 0) return found;
  found.add_children(n, children);
  std::vector<counts> of_child(static_cast<std::size_t>(children));
  tbb::task_group group;
  for (int i = 0; i < children; ++i) {
    counts& result = of_child[static_cast<std::size_t>(i)];
    group.run([&t, &result, child = t.child(n, i)] { result = explore_by_tbb(t, child); });
  }
  group.wait();
  return sum(found, of_child);
}
#endif

counts below_root([[maybe_unused]] const std::string& name, [[maybe_unused]] const tree& t,
                  [[maybe_unused]] int threads) {
#if defined(_OPENMP)
  if (name == "openmp") return search_by_openmp(t, threads);
#endif
#if defined(APPS_TBB)
  if (name == "tbb") return explore_by_tbb(t, t.root());
#endif
  return {};
}

}  // namespace

search_result search_by_peer(const std::string& name, const search_options& o,
                             apps::peer_thread& thread) {
  const tree t = o.make_tree();
  search_result result;
  thread.run([&, threads = apgas::num_workers()] {
    const auto search = [&] {
      const apps::stopwatch clock;
      result.total = root_alone + below_root(name, t, threads);
      result.seconds = clock.seconds();
    };
#if defined(APPS_TBB)
    if (name == "tbb") return apps::in_tbb_arena(threads, search);
#endif
    search();
  });
  result.nodes_of_place = {result.total.nodes};
  result.bags = 1;
  return result;
}

}  // namespace uts
