// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/sync/algorithm_ranges.hpp>

// The messages of the parallel algorithms about arguments that they cannot take.
namespace apgas::inline v0::sync {

void refuse_overlap(const char* algorithm, bool same_begin_allowed) {
  throw illegal_operation(fmt::format(
      "{} was called with a destination that overlaps its source; {}write to other "
      "memory, and move the elements back afterwards",
      algorithm,
      same_begin_allowed ? "let both begin at the same element of the same type, or " : ""));
}

void refuse_sizes(const char* algorithm, std::size_t elements, std::size_t others) {
  throw illegal_operation(
      fmt::format("{} was called with ranges of {} and {} elements; give both the same size",
                  algorithm, elements, others));
}

void refuse_bucket(std::size_t bucket, std::size_t buckets, bool negative) {
  const std::string found = negative ? "a negative number" : std::to_string(bucket);
  const std::string remedy = buckets == 0
                                 ? "give the number of buckets as the argument after the elements"
                                 : fmt::format("return a bucket from 0 to {}", buckets - 1);
  throw illegal_operation(fmt::format(
      "the key function of parallel::histogram returned {}, but there are {} buckets; {}", found,
      buckets, remedy));
}

}  // namespace apgas::inline v0::sync
