// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/parallel/integer_sort.hpp>
#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>
#include <apgas/sync/group_table.hpp>

// Groups of elements with equal keys: collect_reduce reduces each group to one value, group_by
// lists its elements. Each block finds its groups in a hash table of its own. Then the groups of
// all blocks are joined by shards of the hash values, all shards in parallel and the blocks in
// their order. So the operation need not be commutative, and the result does not depend on the
// hash.
namespace apgas::inline v0::sync {

// What is done with a group: the key of an element, the value of a group with one element, its
// extension by another element, and the union with the same group of a later block.
template <class Key, class Make, class Add, class Join>
struct grouping {
  Key key;
  Make make;
  Add add;
  Join join;
};
template <class Key, class Make, class Add, class Join>
grouping(Key, Make, Add, Join) -> grouping<Key, Make, Add, Join>;  // clang 16 needs it

template <class I, class G>
class group_finder {
 public:
  using reference = std::iter_reference_t<I>;
  using key_type = std::decay_t<decltype(std::declval<G&>().key(std::declval<reference>()))>;
  using value_type = std::decay_t<decltype(std::declval<G&>().make(std::declval<reference>()))>;
  using table = group_table<key_type, value_type>;
  using group = std::pair<key_type, value_type>;
  using result = std::vector<group>;

  group_finder(I first, std::size_t n, std::size_t workers, G& how, std::source_location site)
      : first_(first),
        // Few large blocks, because each may have a group of every key; but a block for each
        // element if there are few, because the functions may take long.
        all_(divide_into(n, workers == 1 ? 1 : 8 * workers, 1)),
        how_(how),
        site_(site) {}

  result find() {
    std::vector<table> tables(all_.blocks());
    for_blocks(all_, site_, [&](std::size_t k, std::size_t begin, std::size_t end) {
      table mine;  // local, so that its members need not be read again after each store
      for (std::size_t i = begin; i < end; ++i) put(mine, i);
      tables[k] = std::move(mine);
    });
    if (tables.empty()) return {};
    if (tables.size() == 1) return std::move(tables[0].groups());
    std::vector<table> joined(shards);
    for_blocks(division{shards, 1}, site_, [&](std::size_t s, std::size_t, std::size_t) {
      for (table& from : tables) join(from, s, joined[s]);
    });
    tables.clear();
    return sorted_pairs_of(joined);
  }

 private:
  static constexpr std::size_t shards = 64;

  void put(table& to, std::size_t i) {
    auto&& x = first_[offset<I>(i)];
    key_type key(how_.key(x));
    const std::uint64_t hash = table::hash_of(key);
    to.put(
        i, hash, std::move(key), [&] { return how_.make(x); },
        [&](value_type& value) { how_.add(value, x); });
  }

  void join(table& from, std::size_t shard, table& to) {
    for (std::size_t k = 0; k < from.groups().size(); ++k) {
      const typename table::origin& origin = from.origins()[k];
      if (table::shard_of(origin.hash) != shard) continue;
      auto& [key, of_block] = from.groups()[k];
      to.put(
          origin.first, origin.hash, std::move(key),
          [&value = of_block] { return std::move(value); },
          [this, &more = of_block](value_type& value) { how_.join(value, std::move(more)); });
    }
  }

  struct ranked {
    std::size_t first;
    group* which;
  };

  // Returns the groups of all shards in the order of their first elements.
  result sorted_pairs_of(std::vector<table>& tables) {
    std::vector<ranked> order;
    for (table& each : tables) {
      for (std::size_t k = 0; k < each.groups().size(); ++k) {
        order.push_back({each.origins()[k].first, &each.groups()[k]});
      }
    }
    parallel::integer_sort(order, &ranked::first, site_);
    result pairs;
    pairs.reserve(order.size());
    for (const ranked& each : order) pairs.push_back(std::move(*each.which));
    return pairs;
  }

  I first_;
  division all_;
  G& how_;
  std::source_location site_;
};

template <class I, class G>
auto groups_of(I first, std::size_t n, std::size_t workers, G how, std::source_location site) {
  return collecting(site, [&] { return group_finder<I, G>(first, n, workers, how, site).find(); });
}

}  // namespace apgas::inline v0::sync

namespace apgas::inline v0::parallel {

// Groups the elements x of a range by key(x), and reduces value(x) in each group by `op`, in the
// order of the elements. Returns a std::vector of pairs of a key and the result of its group, in
// the order in which the keys first occur. Keys need std::hash and ==; `op` must be associative but
// need not be commutative, and no neutral element is needed. SQL's GROUP BY, ParlayLib's
// collect_reduce.
//
//   auto spent = apgas::parallel::collect_reduce(orders, [](const order& o) { return o.customer; },
//                                                [](const order& o) { return o.price; },
//                                                std::plus<>());
//
// Throws: multiple_exceptions if one of the functions threw; illegal_operation outside a task and
// inside `atomic` or `when`.
// Context: task. May suspend and resume on another worker.
// Cost: one pass with a hash table for each block, up to eight blocks for each worker; then a
// second pass over the groups of each block, by at most 64 workers, and a sort of the groups.
template <std::ranges::range Range, class Key, class Value, class Op>
auto collect_reduce(Range&& range, Key key, Value value, Op op,
                    std::source_location site = std::source_location::current()) {
  const std::size_t workers = sync::workers_for("parallel::collect_reduce");
  const auto first = std::ranges::begin(range);
  const std::size_t n = sync::size_between(first, sync::end_of(range));
  using result = std::decay_t<std::invoke_result_t<Value&, std::ranges::range_reference_t<Range>>>;
  const auto key_of = [&key](auto&& x) { return std::invoke(key, x); };
  const auto make = [&value](auto&& x) -> result { return std::invoke(value, x); };
  const auto add = [&](result& sum, auto&& x) {
    sum = std::invoke(op, std::move(sum), std::invoke(value, x));
  };
  const auto join = [&](result& sum, result&& more) {
    sum = std::invoke(op, std::move(sum), std::move(more));
  };
  return sync::groups_of(first, n, workers, sync::grouping{key_of, make, add, join}, site);
}

// The same for [first, last).
template <sync::position I, class Key, class Value, class Op>
auto collect_reduce(I first, I last, Key key, Value value, Op op,
                    std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  return parallel::collect_reduce(std::ranges::subrange(first, last), std::move(key),
                                  std::move(value), std::move(op), site);
}

// Groups the elements x of a range by key(x). Returns a std::vector of pairs of a key and a
// std::vector of copies of the elements that have it, in their order; the keys are in the order in
// which they first occur. ParlayLib's group_by_key.
//
//   auto orders_of = apgas::parallel::group_by(orders, [](const order& o) { return o.customer; });
//
// Throws, Context: as collect_reduce. Cost: as collect_reduce, and each element is copied once, and
// moved when its group grows or is joined with that of another block.
template <std::ranges::range Range, class Key>
auto group_by(Range&& range, Key key, std::source_location site = std::source_location::current()) {
  const std::size_t workers = sync::workers_for("parallel::group_by");
  const auto first = std::ranges::begin(range);
  const std::size_t n = sync::size_between(first, sync::end_of(range));
  using list = std::vector<std::ranges::range_value_t<Range>>;
  const auto key_of = [&key](auto&& x) { return std::invoke(key, x); };
  const auto make = [](auto&& x) { return list(1, x); };
  const auto add = [](list& all, auto&& x) { all.push_back(x); };
  const auto join = [](list& all, list&& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  return sync::groups_of(first, n, workers, sync::grouping{key_of, make, add, join}, site);
}

// The same for [first, last).
template <sync::position I, class Key>
auto group_by(I first, I last, Key key,
              std::source_location site = std::source_location::current()) {
  sync::require_random_access<I>();
  return parallel::group_by(std::ranges::subrange(first, last), std::move(key), site);
}

}  // namespace apgas::inline v0::parallel
