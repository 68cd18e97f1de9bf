// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/scratch.hpp>

// Sorting by integer keys: a radix sort from the least significant byte on. For each byte, every
// block counts its values and then moves its elements to where they belong, all blocks in parallel.
// Bytes that are the same in all keys are left out.
namespace apgas::inline v0::sync {

// Returns the key as an unsigned number with the same order.
template <std::integral Key>
auto ordered_bits(Key key) {
  if constexpr (std::same_as<Key, bool>) {
    return static_cast<std::uint8_t>(key);
  } else {
    using bits = std::make_unsigned_t<Key>;
    constexpr bits sign = std::is_signed_v<Key> ? bits{1} << (8 * sizeof(bits) - 1) : bits{0};
    return static_cast<bits>(static_cast<bits>(key) ^ sign);
  }
}

template <class I, class KeyOf>
class radix_sort {
 public:
  using value = std::iter_value_t<I>;
  using bits =
      decltype(ordered_bits(std::invoke(std::declval<KeyOf&>(), std::declval<const value&>())));

  radix_sort(I first, std::size_t n, KeyOf& key_of, std::size_t workers, std::source_location site)
      : first_(first),
        all_(divide_into(n, 4 * workers, block_elements)),
        key_of_(key_of),
        site_(site) {}

  void sort() {
    const bits varying = varying_bits();
    if (varying == 0) return;
    scratch<value> buffer(all_.n);
    bool moved = !bytes_suffice<value>;  // whether the elements are in the buffer
    if (moved) buffer.take(first_, site_);
    for (unsigned shift = 0; shift < 8 * sizeof(bits); shift += 8) {
      if (((varying >> shift) & 0xff) == 0) continue;
      if (moved) {
        pass(buffer.data(), first_, shift);
      } else {
        pass(first_, buffer.data(), shift);
      }
      moved = !moved;
    }
    if (moved) buffer.give_back(first_, site_);
  }

 private:
  using counters = std::array<std::size_t, 256>;

  bits key(const value& x) const { return ordered_bits(std::invoke(key_of_, x)); }

  // Returns the bits in which keys differ. 0 also if the elements are sorted already.
  bits varying_bits() const {
    if (all_.n < 2) return 0;
    const bits pattern = key(*first_);
    std::vector<bits> different(all_.blocks());
    std::vector<char> descends(all_.blocks());
    for_blocks(all_, site_, [&](std::size_t k, std::size_t begin, std::size_t end) {
      bits before = key(first_[offset<I>(begin == 0 ? 0 : begin - 1)]);
      bits found = 0;
      bool down = false;
      for (std::size_t i = begin; i < end; ++i) {
        const bits each = key(first_[offset<I>(i)]);
        found = static_cast<bits>(found | (each ^ pattern));
        down |= each < before;
        before = each;
      }
      different[k] = found;
      descends[k] = static_cast<char>(down);
    });
    bits found = 0;
    bool sorted = true;
    for (std::size_t k = 0; k < different.size(); ++k) {
      found = static_cast<bits>(found | different[k]);
      sorted = sorted && descends[k] == 0;
    }
    return sorted ? bits{0} : found;
  }

  static std::size_t digit(bits key, unsigned shift) {
    return static_cast<std::size_t>((key >> shift) & 0xff);
  }

  // Moves the elements from `from` to `to`, ordered by one byte of their keys.
  template <class From, class To>
  void pass(From from, To to, unsigned shift) {
    std::vector<counters> positions(all_.blocks());
    for_blocks(all_, site_, [&](std::size_t k, std::size_t begin, std::size_t end) {
      counters mine{};
      for (std::size_t i = begin; i < end; ++i) {
        ++mine[digit(key(from[offset<From>(i)]), shift)];
      }
      positions[k] = mine;
    });
    std::size_t sum = 0;
    for (std::size_t d = 0; d < 256; ++d) {
      for (counters& block : positions) sum += std::exchange(block[d], sum);
    }
    for_blocks(all_, site_, [&](std::size_t k, std::size_t begin, std::size_t end) {
      counters mine = positions[k];
      for (std::size_t i = begin; i < end; ++i) {
        auto& x = from[offset<From>(i)];
        to[offset<To>(mine[digit(key(x), shift)]++)] = std::move(x);
      }
    });
  }

  I first_;
  division all_;
  KeyOf& key_of_;
  std::source_location site_;
};

}  // namespace apgas::inline v0::sync

namespace apgas::inline v0::parallel {

// Sorts [first, last) by the integer key(x) of each element x. The sort is stable: elements with
// equal keys keep their order. Signed keys are ordered as numbers. Without `key`, the elements
// themselves are integers. `key` is called several times for each element and must return the same
// each time.
//
//   std::vector<edge> edges{{2, 0}, {0, 1}, {1, 2}};
//   apgas::parallel::integer_sort(edges, [](const edge& e) { return e.source; });
//
// Throws: multiple_exceptions if key or a move threw; elements may then have been moved from.
// std::bad_alloc. illegal_operation outside a task and inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: O(n) for each byte in which keys differ, and memory for all elements. If the elements are
// sorted already, one pass. Source: a radix sort, as ParlayLib's integer_sort.
template <sync::position I, class Key = std::identity>
void integer_sort(I first, I last, Key key = {},
                  std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  using result = std::remove_cvref_t<std::invoke_result_t<Key&, std::iter_reference_t<I>>>;
  static_assert(std::integral<result>,
                "apgas: the key function of integer_sort must return an integer for an element; "
                "use sort or stable_sort for other keys");
  if constexpr (std::integral<result>) {
    const std::size_t workers = sync::workers_for("parallel::integer_sort");
    const std::size_t n = sync::size_between(first, last);
    sync::collecting(site, [&] { sync::radix_sort(first, n, key, workers, site).sort(); });
  }
}

// The same for the elements of a range.
template <std::ranges::range Range, class Key = std::identity>
void integer_sort(Range&& range, Key key = {},
                  std::source_location site = std::source_location::current()) {
  parallel::integer_sort(std::ranges::begin(range), sync::end_of(range), std::move(key), site);
}

}  // namespace apgas::inline v0::parallel
