// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include <apgas/forall.hpp>
#include <apgas/sync/branch.hpp>

// The parallel algorithms divide their elements into blocks of equal size and run a forall over the
// blocks. Within a block they run a serial loop, which the compiler optimizes as usual. The result
// of an algorithm that combines one value for each block in the order of the blocks is the same in
// every run if the blocks depend only on the number of elements.
namespace apgas::inline v0::sync {

// The most elements of a block whose work is a few nanoseconds for each element: a block then takes
// some microseconds, about a thousand times as long as forall takes to go on to the next one.
inline constexpr std::size_t block_elements = 4096;

// n elements in blocks of `size`, the last of which may be smaller.
struct division {
  std::size_t n = 0;
  std::size_t size = 1;

  [[nodiscard]] std::size_t blocks() const { return n / size + (n % size != 0 ? 1 : 0); }
  [[nodiscard]] std::size_t begin(std::size_t block) const { return block * size; }
  [[nodiscard]] std::size_t end(std::size_t block) const {
    return std::min(n, block * size + size);
  }
};

// Divides n elements into at least `least_blocks` blocks, as far as there are that many elements,
// because the work for one element may be long and there may be as many workers. The blocks depend
// only on n. With few nanoseconds for each element, they cost a microsecond or two more than one.
inline constexpr std::size_t least_blocks = 256;
inline division divide(std::size_t n, std::size_t most = block_elements) {
  return {n, std::clamp<std::size_t>(n / least_blocks, 1, most)};
}

// Divides n elements into about `count` blocks of at least `least` elements.
inline division divide_into(std::size_t n, std::size_t count, std::size_t least) {
  const std::size_t size = (n + count - 1) / std::max<std::size_t>(count, 1);
  return {n, std::max<std::size_t>({size, least, 1})};
}

// Returns the number of workers of the place. Throws: illegal_operation outside a task and inside
// an atomic section, with the name of the algorithm.
inline std::size_t workers_for(const char* algorithm) {
  return static_cast<std::size_t>(detail::workers_here(suspendable_fiber(algorithm)));
}

// Runs body(block, begin, end) for all blocks. If the body throws, the rest of its block is left
// out and the other blocks are run. Throws: multiple_exceptions. Context: task; may suspend and
// resume on another worker.
template <class Body>
void for_blocks(const division& all, std::source_location site, Body body) {
  const auto run = [&all, &body](std::size_t k) { body(k, all.begin(k), all.end(k)); };
  forall(std::size_t{0}, all.blocks(), run, 1, site);
}

// Runs f and throws what it throws as one multiple_exceptions, as a loop does.
template <class F>
auto collecting(std::source_location site, F f) {
  try {
    return f();
  } catch (...) {
    branch_failures failures(site);
    failures.add();
    failures.raise();
  }
}

// Returns make(begin, end) of every block, in the order of the blocks. No value needs a default
// constructor. Throws, Context: as for_blocks.
template <class T, class Make>
std::vector<std::optional<T>> block_values(const division& all, std::source_location site,
                                           Make make) {
  std::vector<std::optional<T>> values(all.blocks());
  for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
    values[k].emplace(make(begin, end));
  });
  return values;
}

// Replaces each count by the sum of those before it, and returns the sum of all.
inline std::size_t sum_before(std::vector<std::size_t>& counts) {
  std::size_t sum = 0;
  for (std::size_t& each : counts) sum += std::exchange(each, sum);
  return sum;
}

}  // namespace apgas::inline v0::sync
