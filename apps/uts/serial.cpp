// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "uts/serial.hpp"

namespace uts {

counts search_serially(const tree& t) {
  counts total = root_alone;
  std::vector<node> pending = {t.root()};
  while (!pending.empty()) {
    const node n = pending.back();
    pending.pop_back();
    const int children = t.num_children(n);
    total.add_children(n, children);
    for (int i = 0; i < children; ++i) pending.push_back(t.child(n, i));
  }
  return total;
}

counts search_by_path(const parameters& p) {
  struct step {
    node at;
    int children;
    int next = 0;
  };
  const tree t(p, sha1_six_words);
  counts total;
  std::vector<step> path;
  const auto enter = [&](const node& n) {
    const int children = t.num_children(n);
    ++total.nodes;
    total.inner += children > 0 ? 1 : 0;
    total.depth = std::max(total.depth, n.depth);
    if (children > 0) path.push_back({n, children});
  };
  enter(t.root());
  while (!path.empty()) {
    step& last = path.back();
    if (last.next == last.children) {
      path.pop_back();
    } else {
      enter(t.child(last.at, last.next++));
    }
  }
  return total;
}

}  // namespace uts
