// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "support/stopwatch.hpp"
#include "uts/search.hpp"

namespace uts {
namespace {

// So many nodes per place are dealt out at first: enough that subtrees of very different size even
// out.
constexpr std::size_t first_nodes_per_place = 256;
// A grant is half of so many nodes: they carry enough work to pay for the message.
constexpr std::size_t nodes_to_split = 64;
// Where depth is limited, a node this near to the limit has too small a subtree to be worth
// sending.
constexpr int least_height_to_share = 6;
// With several places, a worker looks for messages and resumed tasks once in so many nodes (a power
// of two), about 0.2 ms. Nothing else would: a worker that finds tasks in its own deque goes on
// with them.
constexpr std::uint64_t nodes_between_yields = 4096;

bool contains(const std::vector<int>& places, int place) {
  return std::ranges::find(places, place) != places.end();
}

}  // namespace

// ---- within the place

// True if it is time to yield.
inline bool searcher::count(const counts& found) {
  counts& sum = found_.local();
  const std::uint64_t before = sum.nodes;
  sum = sum + found;
  return several_places_ && before / nodes_between_yields != sum.nodes / nodes_between_yields;
}

// Whether another place waits for a subtree like that of `n`.
inline bool searcher::wanted(const node& n) const {
  return waiting_.load(std::memory_order_relaxed) > 0 &&
         n.depth <= tree_.depth_limit() - least_height_to_share;
}

// Inline, so that the node stays where its task finds it.
[[gnu::always_inline]] inline void searcher::explore(const node& n) {
  if (wanted(n)) return share(n);
  const int children = tree_.num_children(n);
  if (children != 0) spawn_children(n, children);
}

// Apart, so that a leaf saves no registers for it.
[[gnu::noinline]] void searcher::spawn_children(const node& n, int children) {
  counts found;
  found.add_children(n, children);
  const bool look_around = count(found);
  for (int i = 0; i < children; ++i) {
    apgas::async([child = tree_.child(n, i), this] { explore(child); });
  }
  if (look_around) apgas::yield();
}

void searcher::spawn(const node& n) {
  if (granularity_ > 1) {
    apgas::async([n, this] { explore_some(n); });
  } else {
    apgas::async([n, this] { explore(n); });
  }
}

// Up to `granularity_` nodes in this task, what is left then as tasks.
void searcher::explore_some(const node& n) {
  if (wanted(n)) return share(n);
  bag pending = {n};
  counts found;
  for (int budget = granularity_; budget > 0 && !pending.empty(); --budget) {
    const node next = pending.back();
    pending.pop_back();
    const int children = tree_.num_children(next);
    found.add_children(next, children);
    for (int i = 0; i < children; ++i) pending.push_back(tree_.child(next, i));
  }
  const bool look_around = count(found);
  for (const node& left : pending) spawn(left);
  if (look_around) apgas::yield();
}

bag searcher::expand(const node& from, std::size_t size) {
  bag nodes = {from};
  std::size_t first = 0;  // those before it are expanded
  while (first < nodes.size() && nodes.size() - first < size) {
    const node n = nodes[first++];
    const int children = tree_.num_children(n);
    found_.local().add_children(n, children);
    for (int i = 0; i < children; ++i) nodes.push_back(tree_.child(n, i));
  }
  nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(first));
  return nodes;
}

searcher::account searcher::what_was_done() const {
  return {found_.reduce(std::plus<>{}), bags_searched_};
}

// ---- between places

// Splits the subtree of `n` between us and a place that waits, unless it turns out to be small.
void searcher::share(const node& n) {
  bag ours = expand(n, nodes_to_split);
  if (ours.empty()) return;
  std::optional<request> taken;
  {
    const std::scoped_lock hold(mutex_);
    if (!requests_.empty()) {
      taken = std::move(requests_.back());
      requests_.pop_back();
      waiting_.store(requests_.size(), std::memory_order_relaxed);
    }
  }
  if (taken) {
    const auto half = ours.begin() + static_cast<std::ptrdiff_t>(ours.size() / 2);
    taken->grant.set_value(bag(half, ours.end()));
    ours.erase(half, ours.end());
  }
  for (const node& m : ours) spawn(m);
  if (taken) apgas::yield();  // lets serve() send the grant now
}

void searcher::search_bag(searchers all, const bag& nodes) {
  std::vector<int> starving;
  {
    const std::scoped_lock hold(mutex_);
    ++bags_;
    ++bags_searched_;
    starving.swap(starving_);
  }
  for (const int thief : starving) apgas::async([this, all, thief] { serve(all, thief); });

  apgas::finish([&] {
    for (const node& n : nodes) spawn(n);
  });

  std::vector<request> unserved;
  {
    const std::scoped_lock hold(mutex_);
    if (--bags_ > 0) return;
    unserved.swap(requests_);
    waiting_.store(0, std::memory_order_relaxed);
  }
  for (request& r : unserved) r.grant.set_value({});
  ask_neighbours(all);
}

void searcher::ask_neighbours(searchers all) {
  const int me = apgas::here().id();
  for (int bit = 1; bit < apgas::num_places(); bit *= 2) {
    const int neighbour = me ^ bit;
    if (neighbour < apgas::num_places()) {
      apgas::async_at(apgas::place(neighbour), [all, me] { all->serve(all, me); });
    }
  }
}

// Waits until a task here has a grant for `thief` and sends it. Runs as a task of the search's
// finish and not of search_bag's, which must not wait for what the thief does with the grant.
void searcher::serve(searchers all, int thief) {
  for (;;) {
    apgas::future<bag> grant;
    {
      const std::scoped_lock hold(mutex_);
      if (contains(starving_, thief) ||
          std::ranges::find(requests_, thief, &request::thief) != requests_.end()) {
        return;  // it asked before, got work elsewhere, and asks again
      }
      if (bags_ == 0) return starving_.push_back(thief);
      requests_.push_back({thief, {}});
      grant = requests_.back().grant.get_future();
      waiting_.store(requests_.size(), std::memory_order_relaxed);
    }
    const bag& nodes = grant.get();
    if (nodes.empty()) continue;  // our own work ended first
    return apgas::async_at(
        apgas::place(thief), [all](const bag& b) { all->search_bag(all, b); }, nodes);
  }
}

// ---- the whole

namespace {

void deal_out(searchers all, const bag& nodes) {
  const auto places = static_cast<std::size_t>(apgas::num_places());
  std::vector<bag> hands(places);
  for (std::size_t i = 0; i < nodes.size(); ++i) hands[i % places].push_back(nodes[i]);
  for (std::size_t p = 0; p < places; ++p) {
    apgas::async_at(
        apgas::place(static_cast<int>(p)), [all](const bag& b) { all->search_bag(all, b); },
        hands[p]);
  }
}

}  // namespace

search_result search_in_parallel(const search_options& o) {
  const auto all = searchers::make(apgas::places(), [o] { return searcher(o); });
  search_result result;
  result.total = root_alone;
  const apps::stopwatch clock;
  apgas::finish([&] {
    if (apgas::num_places() == 1) {
      all->search_bag(all, {all->root()});
    } else {
      deal_out(all, all->expand(all->root(), first_nodes_per_place *
                                                 static_cast<std::size_t>(apgas::num_places())));
    }
  });
  result.seconds = clock.seconds();
  for (const apgas::place q : apgas::places()) {
    const auto [found, bags] = apgas::at(q, [all] { return all->what_was_done(); });
    result.total = result.total + found;
    result.nodes_of_place.push_back(found.nodes);
    result.bags += bags;
  }
  all.destroy();
  return result;
}

}  // namespace uts
