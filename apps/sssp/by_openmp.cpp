// SPDX-License-Identifier: Apache-2.0
#if defined(_OPENMP)

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <omp.h>

#include "sssp/by_openmp.hpp"

namespace sssp {
namespace {

constexpr std::size_t no_bucket = SIZE_MAX;
// A bucket of a thread with fewer vertices is emptied by the thread alone. GAP has the same number.
constexpr std::size_t fused = 1000;

class thread_search {
 public:
  thread_search(const arcs& graph, std::span<length> lengths, std::span<length> followed,
                length delta)
      : graph_(graph), lengths_(lengths), followed_(followed), delta_(delta) {}

  void follow(std::uint32_t v) {
    const length here = std::atomic_ref(lengths_[v]).load(std::memory_order_relaxed);
    // It was followed with this length, perhaps as one of a lower bucket.
    const std::atomic_ref followed(followed_[v]);
    if (followed.load(std::memory_order_relaxed) == here) return;
    followed.store(here, std::memory_order_relaxed);
    for (const arc& a : graph_.of(v)) improve(a.index, here + a.weight);
  }

  void improve(std::uint64_t v, length via) {
    const std::atomic_ref shared(lengths_[v]);
    length before = shared.load(std::memory_order_relaxed);
    while (via < before) {
      if (!shared.compare_exchange_weak(before, via, std::memory_order_relaxed)) continue;
      const auto bucket = static_cast<std::size_t>(via / delta_);
      if (buckets_.size() <= bucket) buckets_.resize(bucket + 1);
      buckets_[bucket].push_back(static_cast<std::uint32_t>(v));
      return;
    }
  }

  void empty_small(std::size_t bucket) {
    while (bucket < buckets_.size() && !buckets_[bucket].empty() &&
           buckets_[bucket].size() < fused) {
      taken_.clear();
      taken_.swap(buckets_[bucket]);
      for (const std::uint32_t v : taken_) follow(v);
    }
  }

  [[nodiscard]] std::size_t lowest(std::size_t from) const {
    for (; from < buckets_.size(); ++from) {
      if (!buckets_[from].empty()) return from;
    }
    return no_bucket;
  }

  void take(std::size_t bucket, std::vector<std::uint32_t>& into) {
    into.clear();
    if (bucket < buckets_.size()) into.swap(buckets_[bucket]);
  }

 private:
  const arcs& graph_;
  std::span<length> lengths_;
  std::span<length> followed_;  // by vertex: the length with which its arcs were followed
  length delta_;
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::vector<std::uint32_t> taken_;
};

}  // namespace

openmp_result search_by_openmp(const arcs& graph, std::size_t root, length delta, int threads) {
  openmp_result result;
  result.lengths.assign(graph.size(), unreached);
  result.lengths[root] = 0;
  std::vector<length> followed(graph.size(), unreached);
  const auto team = static_cast<std::size_t>(threads);
  std::vector<std::vector<std::uint32_t>> frontier(team);  // by the thread that found the vertices
  frontier[0].push_back(static_cast<std::uint32_t>(root));
  std::size_t next[2] = {no_bucket, no_bucket};  // of this round, and of the one after it
#pragma omp parallel num_threads(threads)
  {
    const auto me = static_cast<std::size_t>(omp_get_thread_num());
    thread_search mine(graph, result.lengths, followed, delta);
    std::size_t bucket = 0;
    for (std::size_t round = 0; bucket != no_bucket; ++round) {
      for (const std::vector<std::uint32_t>& each : frontier) {
#pragma omp for nowait schedule(dynamic, 64)
        for (std::size_t i = 0; i < each.size(); ++i) mine.follow(each[i]);
      }
      mine.empty_small(bucket);
      const std::size_t lowest = mine.lowest(bucket);
#pragma omp critical
      next[round % 2] = std::min(next[round % 2], lowest);
#pragma omp barrier
      bucket = next[round % 2];
      mine.take(bucket, frontier[me]);
#pragma omp barrier
#pragma omp master
      {
        next[round % 2] = no_bucket;  // is used again in the round after the next one
        ++result.rounds;
      }
    }
  }
  return result;
}

}  // namespace sssp

#endif
