// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include "triangles/oriented_graph.hpp"

namespace triangles {

namespace {

// How many ranks are in both lists.
std::int64_t common(list a, list b) {
  std::int64_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    count += a[i] == b[j] ? 1 : 0;
    const bool advance_a = a[i] <= b[j];
    const bool advance_b = b[j] <= a[i];
    i += advance_a ? 1 : 0;
    j += advance_b ? 1 : 0;
  }
  return count;
}

}  // namespace

void normalise(std::vector<edge>& edges) {
  const auto ends = [](const edge& e) { return std::pair(e.from, e.to); };
  std::ranges::sort(edges, {}, ends);
  const auto repeated = std::ranges::unique(edges, {}, ends);
  edges.erase(repeated.begin(), repeated.end());
}

std::vector<std::int32_t> degrees_of(std::span<const edge> edges, std::int64_t vertices) {
  std::vector<std::int32_t> degrees(static_cast<std::size_t>(vertices));
  for (const edge& e : edges) ++degrees[static_cast<std::size_t>(e.from)];
  return degrees;
}

std::vector<rank> ranks_of(std::span<const std::int32_t> degrees) {
  std::vector<rank> order(degrees.size());
  std::iota(order.begin(), order.end(), rank{0});
  std::ranges::stable_sort(order, {}, [&](rank v) { return degrees[v]; });
  std::vector<rank> ranks(degrees.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<rank>(i);
  return ranks;
}

std::vector<std::vector<edge>> oriented(std::span<const edge> edges, std::span<const rank> ranks,
                                        const bfs::dealing& dealt) {
  std::vector<std::vector<edge>> all(static_cast<std::size_t>(dealt.places));
  for (const edge& e : edges) {
    const vertex from = ranks[static_cast<std::size_t>(e.from)];
    const vertex to = ranks[static_cast<std::size_t>(e.to)];
    if (from < to) all[static_cast<std::size_t>(dealt.owner(from))].push_back({from, to});
  }
  return all;
}

portion::portion(const bfs::dealing& dealt, std::int64_t vertices, std::span<const edge> oriented)
    : places_(static_cast<rank>(dealt.places)),
      here_(static_cast<rank>(dealt.here)),
      first_(dealt.size(vertices) + 1),
      higher_(oriented.size()) {
  for (const edge& e : oriented) ++first_[dealt.at(e.from) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const edge& e : oriented) higher_[next[dealt.at(e.from)]++] = static_cast<rank>(e.to);
  for (std::size_t v = 0; v < size(); ++v) {
    std::ranges::sort(std::span(higher_).subspan(first_[v], first_[v + 1] - first_[v]));
  }
}

std::int64_t portion::count_with(list of_lowest) const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i + 1 < of_lowest.size(); ++i) {
    const rank v = of_lowest[i];
    if (v % places_ != here_) continue;
    count += common(of_lowest.subspan(i + 1), of(v / places_));
  }
  return count;
}

std::vector<std::vector<rank>> portion::lists_for_places() const {
  std::vector<std::vector<rank>> outgoing(places_);
  std::vector<std::size_t> sent_to(places_, size());  // by place: the last list sent there
  for (std::size_t v = 0; v < size(); ++v) {
    const list mine = of(v);
    for (std::size_t i = 0; i + 1 < mine.size(); ++i) {
      const rank owner = mine[i] % places_;
      if (owner == here_ || std::exchange(sent_to[owner], v) == v) continue;
      outgoing[owner].push_back(static_cast<rank>(mine.size() - i));
      outgoing[owner].insert(outgoing[owner].end(), mine.begin() + static_cast<std::ptrdiff_t>(i),
                             mine.end());
    }
  }
  return outgoing;
}

std::vector<list> separate(list received) {
  std::vector<list> lists;
  while (!received.empty()) {
    lists.push_back(received.subspan(1, received.front()));
    received = received.subspan(1 + lists.back().size());
  }
  return lists;
}

}  // namespace triangles
