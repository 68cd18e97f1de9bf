// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <utility>

#include "sssp/portion.hpp"

namespace sssp {

namespace {

// A task takes so many vertices or offers at once.
constexpr std::size_t piece = 64;

std::vector<std::vector<length>> nothing_offered(const plan& p, const bfs::dealing& dealt) {
  std::vector<std::vector<length>> all(static_cast<std::size_t>(dealt.places));
  for (std::int64_t q = 0; q < dealt.places; ++q) {
    if (q == dealt.here) continue;
    const bfs::dealing theirs{dealt.places, q};
    all[static_cast<std::size_t>(q)].assign(theirs.size(p.graph().vertices()), unreached);
  }
  return all;
}

// Whether the value was greater. Context: any thread, several at the same time.
bool lower(length& value, length to) {
  const std::atomic_ref shared(value);
  length before = shared.load(std::memory_order_relaxed);
  while (to < before) {
    if (shared.compare_exchange_weak(before, to, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace

portion::portion(const plan& p, length delta, std::span<length> lengths, const apgas::team& team)
    : delta_(delta),
      dealt_{static_cast<std::int64_t>(team.size()), static_cast<std::int64_t>(team.index())},
      team_(team),
      lengths_(lengths),
      followed_(lengths.size(), unreached),
      arcs_(lengths.size(), dealt_, apps::exchange(team, share_of_edges(p, dealt_)).values),
      found_([&team] {
        found of_a_worker;
        of_a_worker.offers.resize(team.size());
        return of_a_worker;
      }),
      taken_(found_.size()),
      offered_(nothing_offered(p, dealt_)),
      exchanger_(team),
      outgoing_(team.size()) {
  if (team.size() > 1) exchanger_.reserve(lengths.size());
}

std::int64_t portion::search(vertex root) {
  if (dealt_.owner(root) == dealt_.here) improve(dealt_.at(root), 0, *found_);
  std::int64_t rounds = 0;
  for (std::size_t bucket = 0; bucket != no_bucket; bucket = exchange_offers(), ++rounds) {
    take(bucket);
    for (const std::vector<local_vertex>& each : taken_) {
      in_pieces(each, [this](local_vertex v, found& mine) { follow(v, mine); });
    }
  }
  exchanger_.release();
  return rounds;
}

// Calls f(x, found) for each of the values, several at the same time, where found is the value of
// the worker that runs it. A task gets it once for all values that it takes.
template <class T, class F>
void portion::in_pieces(const std::vector<T>& values, F f) {
  apgas::forall(
      std::size_t{0}, (values.size() + piece - 1) / piece,
      [&](std::size_t i) {
        found& mine = *found_;
        const std::size_t last = std::min(values.size(), (i + 1) * piece);
        for (std::size_t k = i * piece; k < last; ++k) f(values[k], mine);
      },
      1);
}

// Moves the vertices of a bucket to taken_.
void portion::take(std::size_t bucket) {
  std::size_t worker = 0;
  for (found& each : found_) {
    std::vector<local_vertex>& to = taken_[worker++];
    to.clear();
    if (bucket < each.improved.size()) to.swap(each.improved[bucket]);
  }
}

// Follows the arcs of a vertex, unless it was followed with its present length, perhaps as one of a
// lower bucket.
void portion::follow(local_vertex v, found& mine) {
  const length here = std::atomic_ref(lengths_[v]).load(std::memory_order_relaxed);
  const std::atomic_ref followed(followed_[v]);
  if (followed.load(std::memory_order_relaxed) == here) return;
  followed.store(here, std::memory_order_relaxed);
  for (std::span<const arc> rest = arcs_.of(v); !rest.empty();) {
    const std::span<const arc> group = first_group(rest);
    rest = rest.subspan(group.size());
    const std::size_t place = group.front().place;
    if (std::cmp_equal(place, dealt_.here)) {
      for (const arc& a : group) improve(a.index, here + a.weight, mine);
      continue;
    }
    const std::span<length> offered = offered_[place];
    for (const arc& a : group) {
      if (lower(offered[a.index], here + a.weight)) offer_elsewhere(a, here + a.weight, mine);
    }
  }
}

void portion::improve(std::size_t index, length via, found& mine) const {
  if (!lower(lengths_[index], via)) return;
  const auto bucket = static_cast<std::size_t>(via / delta_);
  if (mine.improved.size() <= bucket) mine.improved.resize(bucket + 1);
  mine.improved[bucket].push_back(static_cast<local_vertex>(index));
}

void portion::offer_elsewhere(const arc& a, length via, found& mine) const {
  mine.offers[a.place].push_back({a.index, static_cast<std::uint64_t>(via) & 0xff'ffff'ffff});
  mine.lowest_offer = std::min(mine.lowest_offer, static_cast<std::size_t>(via / delta_));
}

// A collective. Returns the lowest bucket that some place may have vertices in.
std::size_t portion::exchange_offers() {
  std::size_t lowest = lowest_bucket();
  if (team_.size() == 1) return lowest;
  for (auto& each : outgoing_) each.clear();
  for (found& each : found_) {
    lowest = std::min(lowest, std::exchange(each.lowest_offer, no_bucket));
    for (std::size_t q = 0; q < outgoing_.size(); ++q) {
      if (outgoing_[q].empty()) {
        outgoing_[q].swap(each.offers[q]);
      } else {
        outgoing_[q].insert(outgoing_[q].end(), each.offers[q].begin(), each.offers[q].end());
        each.offers[q].clear();
      }
    }
  }
  const std::vector<std::size_t> of_all = exchanger_.exchange(outgoing_, lowest, incoming_);
  in_pieces(incoming_.values, [this](const offer& o, found& mine) {
    improve(o.index, static_cast<length>(o.via), mine);
  });
  return *std::ranges::min_element(of_all);
}

// The lowest bucket of this place that is not empty.
std::size_t portion::lowest_bucket() const {
  std::size_t lowest = no_bucket;
  for (const found& each : found_) {
    const auto bucket =
        std::ranges::find_if(each.improved, [](const auto& b) { return !b.empty(); });
    if (bucket != each.improved.end()) {
      lowest = std::min(lowest, static_cast<std::size_t>(bucket - each.improved.begin()));
    }
  }
  return lowest;
}

}  // namespace sssp
