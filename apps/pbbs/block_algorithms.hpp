// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scan, filter, pack and radix sort for libraries that have only a parallel loop, as the suite
// writes them: the elements are divided into blocks, a first loop over the blocks counts or adds
// up, and a second one writes. They take any loops that have for_each_uneven and threads
// (loops.hpp). With one thread, or few elements, they are serial loops.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pbbs/records.hpp"

namespace pbbs {

// The blocks of n elements, several for each thread.
struct blocks {
  std::size_t n;
  std::size_t count;
  [[nodiscard]] std::size_t begin(std::size_t k) const { return n * k / count; }
  [[nodiscard]] std::size_t end(std::size_t k) const { return n * (k + 1) / count; }
};

template <class Loops>
blocks divide(const Loops& loops, std::size_t n) {
  constexpr std::size_t few = 2048;
  const auto threads = static_cast<std::size_t>(loops.threads());
  if (threads == 1) return {n, 1};
  return {n, std::clamp<std::size_t>(n / few, 1, 8 * threads)};
}

// Calls f(k, begin, end) for each block k.
template <class Loops, class F>
void for_blocks(const Loops& loops, const blocks& all, F f) {
  if (all.count == 1) return f(std::size_t{0}, std::size_t{0}, all.n);
  loops.for_each_uneven(all.count, [&](std::size_t k) { f(k, all.begin(k), all.end(k)); });
}

// Replaces each count by the sum of those before it, and returns the sum of all.
inline std::size_t sum_before(std::vector<std::size_t>& counts) {
  std::size_t sum = 0;
  for (std::size_t& each : counts) sum += std::exchange(each, sum);
  return sum;
}

// Sets each element of `out` to the sum of the elements of `in` before it, and returns the sum of
// all. The spans may be the same.
template <class Loops, class T>
T scan_by_blocks(const Loops& loops, std::span<const T> in, std::span<T> out) {
  const auto scan = [&](std::size_t begin, std::size_t end, T sum) {
    for (std::size_t i = begin; i < end; ++i) {
      const T x = in[i];
      out[i] = sum;
      sum += x;
    }
    return sum;
  };
  const blocks all = divide(loops, in.size());
  if (all.count == 1) return scan(0, in.size(), T{});
  std::vector<std::size_t> sums(all.count);
  for_blocks(loops, all, [&](std::size_t k, std::size_t begin, std::size_t end) {
    T sum{};
    for (std::size_t i = begin; i < end; ++i) sum += in[i];
    sums[k] = sum;
  });
  const T total = sum_before(sums);
  for_blocks(loops, all,
             [&](std::size_t k, std::size_t begin, std::size_t end) { scan(begin, end, sums[k]); });
  return total;
}

// Copies the elements i of `in` for which selected(i) is true to the space that room(total)
// returns, and returns their number. No branch depends on the choice.
template <class Loops, class T, class Selected, class Room>
std::size_t select_by_blocks(const Loops& loops, std::span<const T> in, Selected selected,
                             Room room) {
  const blocks all = divide(loops, in.size());
  std::vector<std::size_t> counts(all.count);
  for_blocks(loops, all, [&](std::size_t k, std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t i = begin; i < end; ++i) count += selected(i) ? 1 : 0;
    counts[k] = count;
  });
  std::vector<std::size_t> first = counts;
  const std::size_t total = sum_before(first);
  T* const out = room(total);
  for_blocks(loops, all, [&](std::size_t k, std::size_t begin, std::size_t) {
    T* const to = out + first[k];
    for (std::size_t i = begin, taken = 0; taken < counts[k]; ++i) {
      to[taken] = in[i];
      taken += selected(i) ? 1 : 0;
    }
  });
  return total;
}

// Sorts by key, one byte after another from the least significant one on, and keeps the order of
// records with equal keys. Bytes that are the same in all keys are left out.
template <class Loops>
class radix_sort {
 public:
  radix_sort(const Loops& loops, std::span<record> records)
      : loops_(loops), records_(records), all_(divide(loops, records.size())) {}

  void sort() {
    const word varying = varying_bits();
    const auto buffer = std::make_unique_for_overwrite<record[]>(all_.n);
    record* from = records_.data();
    record* to = buffer.get();
    for (unsigned shift = 0; shift < 64; shift += 8) {
      if ((varying >> shift & 0xff) == 0) continue;
      pass(from, to, shift);
      std::swap(from, to);
    }
    if (from == records_.data()) return;
    for_blocks(loops_, all_, [&](std::size_t, std::size_t begin, std::size_t end) {
      std::copy(from + begin, from + end, to + begin);
    });
  }

 private:
  using counters = std::array<std::size_t, 256>;

  word varying_bits() const {
    std::vector<word> found(all_.count);
    for_blocks(loops_, all_, [&](std::size_t k, std::size_t begin, std::size_t end) {
      word bits = 0;
      for (std::size_t i = begin; i < end; ++i) bits |= records_[i].key ^ records_[0].key;
      found[k] = bits;
    });
    word bits = 0;
    for (const word each : found) bits |= each;
    return bits;
  }

  void pass(const record* from, record* to, unsigned shift) {
    const auto digit = [shift](const record& r) { return r.key >> shift & 0xff; };
    std::vector<counters> positions(all_.count);
    for_blocks(loops_, all_, [&](std::size_t k, std::size_t begin, std::size_t end) {
      counters mine{};
      for (std::size_t i = begin; i < end; ++i) ++mine[digit(from[i])];
      positions[k] = mine;
    });
    std::size_t sum = 0;
    for (std::size_t d = 0; d < 256; ++d) {
      for (counters& block : positions) sum += std::exchange(block[d], sum);
    }
    for_blocks(loops_, all_, [&](std::size_t k, std::size_t begin, std::size_t end) {
      counters mine = positions[k];
      for (std::size_t i = begin; i < end; ++i) to[mine[digit(from[i])]++] = from[i];
    });
  }

  const Loops& loops_;
  std::span<record> records_;
  blocks all_;
};

}  // namespace pbbs
