// SPDX-License-Identifier: Apache-2.0

// Quicksort in place: partitions the array, then sorts both sides in parallel. It is limited by
// memory bandwidth, and its parallelism by the first partition, which one task performs alone.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using number = std::int32_t;

constexpr std::ptrdiff_t insertion_size = 24;  // insertion sort is faster below this size

void insertion_sort(number* first, number* last) {
  for (number* i = first + 1; i < last; ++i) {
    const number x = *i;
    number* hole = i;
    for (; hole > first && hole[-1] > x; --hole) *hole = hole[-1];
    *hole = x;
  }
}

number median_of_three(number a, number b, number c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Hoare's partition. Returns the start of the upper side. Neither side is empty, since the median
// is not the only element on its side.
number* partition(number* first, number* last) {
  const number pivot = median_of_three(*first, first[(last - first) / 2], last[-1]);
  number* low = first - 1;
  number* high = last;
  for (;;) {
    do {
      ++low;
    } while (*low < pivot);
    do {
      --high;
    } while (*high > pivot);
    if (low >= high) return high + 1;
    std::swap(*low, *high);
  }
}

void sort_serial(number* first, number* last) {
  while (last - first > insertion_size) {
    number* const middle = partition(first, last);
    sort_serial(first, middle);
    first = middle;
  }
  insertion_sort(first, last);
}

void sort_fork_join(number* first, number* last) {
  if (last - first <= insertion_size) return insertion_sort(first, last);
  number* const middle = partition(first, last);
  apgas::fork_join([=] { sort_fork_join(first, middle); }, [=] { sort_fork_join(middle, last); });
}

// All sides are tasks of one finish around the whole sort, so no task waits for its children.
void sort_async(number* first, number* last) {
  while (last - first > insertion_size) {
    number* const middle = partition(first, last);
    apgas::async([=] { sort_async(first, middle); });
    first = middle;
  }
  insertion_sort(first, last);
}

void sort(const std::string& variant, number* first, number* last) {
  if (variant == "finish") return apgas::finish([=] { sort_async(first, last); });
  if (variant == "serial") return sort_serial(first, last);
  if (variant == "std") return std::sort(first, last);
  sort_fork_join(first, last);
}

std::uint64_t mix(std::uint64_t x) {  // the finalizer of splitmix64
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::vector<number> random_numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<number> numbers(static_cast<std::size_t>(n));
  std::uint64_t state = seed;
  for (number& x : numbers) {
    x = static_cast<number>(mix(state += 0x9e3779b97f4a7c15U) & 0x7fffffffU);
  }
  return numbers;
}

// A fingerprint that does not depend on the order of the numbers, and almost always differs for
// other numbers.
std::uint64_t fingerprint(const std::vector<number>& numbers) {
  std::uint64_t sum = 0;
  for (const number x : numbers) sum += mix(static_cast<std::uint64_t>(x) + 1);
  return sum;
}

int sort_and_report(const std::string& variant, std::int64_t n, int seed) {
  std::vector<number> numbers = random_numbers(n, static_cast<std::uint64_t>(seed));
  const std::uint64_t before = fingerprint(numbers);
  const apps::stopwatch clock;
  sort(variant, numbers.data(), numbers.data() + numbers.size());
  const double seconds = clock.seconds();
  const bool verified = std::ranges::is_sorted(numbers) && fingerprint(numbers) == before;
  return apps::report("quicksort", seconds, verified, {{"variant", variant}, {"n", n}});
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t n = 10'000'000;
  int seed = 1;
  std::string variant = "fork_join";
  apps::command_line line("quicksort", "Sorts random integers by parallel quicksort.");
  line.option("-n,--n", n, 1, 1'000'000'000'000, "how many integers");
  line.option("--seed", seed, 0, 1'000'000'000, "seed of the random integers");
  line.choice("--variant", variant, {"fork_join", "finish", "serial", "std"}, "how to sort");
  if (const auto code = line.parse(argc, argv)) return *code;
  const double bytes = sizeof(number) * static_cast<double>(n);
  if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
    return line.refuse("--n: " + problem + "; choose fewer");
  }
  return apgas::run(argc, argv, [&] { return sort_and_report(variant, n, seed); });
}
