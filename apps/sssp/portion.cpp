// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "sssp/portion.hpp"
#include "support/exchange.hpp"

namespace sssp {

portion::portion(const plan& p, length delta, std::span<length> lengths, const apgas::team& team)
    : delta_(delta),
      dealt_{static_cast<std::int64_t>(team.size()), static_cast<std::int64_t>(team.index())},
      team_(team),
      lengths_(lengths),
      followed_(lengths.size(), unreached),
      removed_(lengths.size()) {
  auto came = apps::exchange(team, share_of_arcs(p, dealt_));
  arcs_ = arcs(lengths.size(), std::move(came.values), [this](vertex v) { return dealt_.at(v); });
}

std::int64_t portion::search(vertex root) {
  if (dealt_.owner(root) == dealt_.here) take_offer(dealt_.at(root), 0);
  std::int64_t rounds = 0;
  for (auto bucket = lowest_bucket(); bucket != no_bucket; bucket = lowest_bucket()) {
    std::vector<std::size_t> removed;
    for (;; ++rounds) {
      const std::vector<std::size_t> frontier = take(bucket);
      if (team_.allreduce(frontier.size(), std::plus<>()) == 0) break;
      for (const std::size_t v : frontier) {
        if (std::exchange(removed_[v], 1) == 0) removed.push_back(v);
      }
      apgas::forall(frontier, [this](std::size_t v) { follow(v, light(v)); });
      exchange_offers();
    }
    apgas::forall(removed, [this](std::size_t v) { follow(v, heavy(v)); });
    exchange_offers();
    for (const std::size_t v : removed) removed_[v] = 0;
    ++rounds;
  }
  return rounds;
}

// The lowest bucket of all places that is not empty.
std::size_t portion::lowest_bucket() {
  std::size_t lowest = no_bucket;
  for (const buckets& each : buckets_) {
    const auto found = std::ranges::find_if(each, [](const auto& b) { return !b.empty(); });
    if (found != each.end()) {
      lowest = std::min(lowest, static_cast<std::size_t>(found - each.begin()));
    }
  }
  return team_.allreduce(lowest, [](std::size_t a, std::size_t b) { return std::min(a, b); });
}

// Empties a bucket. Returns its vertices, without those that have moved to a lower bucket or were
// followed with their present length.
std::vector<std::size_t> portion::take(std::size_t bucket) {
  std::vector<std::size_t> all;
  for (buckets& each : buckets_) {
    if (bucket >= each.size()) continue;
    for (const std::size_t v : each[bucket]) {
      if (followed_[v] == lengths_[v]) continue;
      followed_[v] = lengths_[v];
      all.push_back(v);
    }
    each[bucket].clear();
  }
  return all;
}

std::span<const arc> portion::light(std::size_t index) const {
  const std::span<const arc> all = arcs_.of(index);
  const auto end = std::ranges::upper_bound(all, delta_, {}, &arc::weight);
  return {all.begin(), end};
}

std::span<const arc> portion::heavy(std::size_t index) const {
  return arcs_.of(index).subspan(light(index).size());
}

void portion::follow(std::size_t index, std::span<const arc> some) {
  const length here = std::atomic_ref(lengths_[index]).load(std::memory_order_relaxed);
  for (const arc& a : some) {
    const std::int64_t owner = dealt_.owner(a.to);
    if (owner == dealt_.here) {
      take_offer(dealt_.at(a.to), here + a.weight);
    } else {
      auto& mine = *offers_;
      mine.resize(team_.size());
      mine[static_cast<std::size_t>(owner)].push_back({a.to, here + a.weight});
    }
  }
}

void portion::exchange_offers() {
  std::vector<std::vector<offer>> outgoing(team_.size());
  for (auto& each : offers_) {
    for (std::size_t q = 0; q < each.size(); ++q) {
      outgoing[q].insert(outgoing[q].end(), each[q].begin(), each[q].end());
      each[q].clear();
    }
  }
  const auto came = apps::exchange(team_, outgoing);
  apgas::forall(came.values, [this](const offer& o) { take_offer(dealt_.at(o.to), o.via); });
}

// Context: a worker. Several tasks of this place may call it at the same time.
void portion::take_offer(std::size_t index, length via) {
  const std::atomic_ref mine(lengths_[index]);
  length before = mine.load(std::memory_order_relaxed);
  while (via < before) {
    if (!mine.compare_exchange_weak(before, via, std::memory_order_relaxed)) continue;
    buckets& all = *buckets_;
    const auto bucket = static_cast<std::size_t>(via / delta_);
    if (all.size() <= bucket) all.resize(bucket + 1);
    all[bucket].push_back(index);
    return;
  }
}

}  // namespace sssp
