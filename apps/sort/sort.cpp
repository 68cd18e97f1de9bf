// SPDX-License-Identifier: Apache-2.0

// Sample sort. Each place sorts its keys. Samples of them divide all keys into one range for each
// place. Every place sends each other place the keys of its range, and merges the keys that it
// receives. Equal keys are distinguished by their position, so that no input gives one place too
// many keys.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/random_word.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using key = std::uint64_t;
using keys = std::vector<key>;

constexpr std::ptrdiff_t leaf = 8192;  // fewer keys are not divided among workers
constexpr std::size_t samples_for_each_place = 32;

// Defines the keys. Sent to all places.
struct plan {
  std::int64_t keys;
  std::int64_t distinct;  // 0: any word
  std::int64_t seed;
  bool ascending;  // the input is in order already

  [[nodiscard]] key key_at(std::int64_t i) const {
    if (ascending) return static_cast<key>(distinct == 0 ? i : i / (keys / distinct + 1));
    const key word = apps::random_word(static_cast<std::uint64_t>(seed), static_cast<key>(i));
    return distinct == 0 ? word : word % static_cast<key>(distinct);
  }
};

keys input_of(const plan& p, std::int64_t place, std::int64_t places) {
  keys mine;
  const std::int64_t last = p.keys * (place + 1) / places;
  for (std::int64_t i = p.keys * place / places; i < last; ++i) mine.push_back(p.key_at(i));
  return mine;
}

void sort_by_workers(std::span<key> part) {
  const auto size = static_cast<std::ptrdiff_t>(part.size());
  if (size <= leaf) {
    std::ranges::sort(part);
    return;
  }
  const std::size_t middle = part.size() / 2;
  apgas::fork_join([=] { sort_by_workers(part.first(middle)); },
                   [=] { sort_by_workers(part.subspan(middle)); });
  std::ranges::inplace_merge(part, part.begin() + size / 2);
}

// Merges the sorted runs [bounds[i], bounds[i + 1]).
void merge_runs(std::span<key> all, std::span<const std::size_t> bounds) {
  const std::size_t runs = bounds.size() - 1;
  if (runs < 2) return;
  const std::size_t half = runs / 2;
  apgas::fork_join([=] { merge_runs(all, bounds.first(half + 1)); },
                   [=] { merge_runs(all, bounds.subspan(half)); });
  const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  std::inplace_merge(at(bounds.front()), at(bounds[half]), at(bounds.back()));
}

// A key and its position. In the order of these, no two are equal.
struct sample {
  key value;
  std::uint64_t member;
  std::uint64_t index;

  auto operator<=>(const sample&) const = default;
};

// The first key of the range of each member except the first. A collective.
std::vector<sample> splitters(const apgas::team& team, const keys& mine) {
  const std::size_t wanted = std::min(mine.size(), samples_for_each_place * team.size());
  std::vector<sample> some;
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t at = (2 * i + 1) * mine.size() / (2 * wanted);
    some.push_back({mine[at], team.index(), at});
  }
  std::vector<sample> all;
  for (const auto& each : team.gather(some, apgas::place())) {
    all.insert(all.end(), each.begin(), each.end());
  }
  std::ranges::sort(all);
  std::vector<sample> chosen;
  if (team.index() == 0) {
    for (std::size_t i = 1; i < team.size(); ++i)
      chosen.push_back(all[i * all.size() / team.size()]);
  }
  return team.broadcast(chosen, apgas::place());
}

// How many of a member's sorted keys precede s.
std::size_t keys_before(const sample& s, const keys& mine, std::size_t member) {
  if (member == s.member) return s.index;
  const auto at = member < s.member ? std::ranges::upper_bound(mine, s.value)
                                    : std::ranges::lower_bound(mine, s.value);
  return static_cast<std::size_t>(at - mine.begin());
}

// A collective: replaces the keys of this place by those of its range.
void sort_here(const apgas::team& team, keys& mine) {
  sort_by_workers(mine);
  std::vector<keys> outgoing;
  auto from = mine.begin();
  for (const sample& s : splitters(team, mine)) {
    const auto to = mine.begin() + static_cast<std::ptrdiff_t>(keys_before(s, mine, team.index()));
    outgoing.emplace_back(from, to);
    from = to;
  }
  outgoing.emplace_back(from, mine.end());
  auto came = apps::exchange(team, outgoing);
  merge_runs(came.values, came.bounds);
  mine = std::move(came.values);
}

// A summary of keys that shows whether they are the expected keys, in order.
struct summary {
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;  // does not depend on the order
  key first = 0;
  key last = 0;
  bool ordered = true;

  explicit summary(const keys& all)
      : count(all.size()),
        first(all.empty() ? 0 : all.front()),
        last(all.empty() ? 0 : all.back()),
        ordered(std::ranges::is_sorted(all)) {
    for (const key k : all) checksum += apps::random_word(k);
  }
};

struct check_result {
  bool verified;
  double largest_share;  // of a place, in units of an equal share
};

check_result check(const plan& p, const apgas::place_local<keys>& sorted) {
  const int places = apgas::num_places();
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;
  std::uint64_t most = 0;
  key last = 0;
  bool ordered = true;
  for (const apgas::place q : apgas::places()) {
    const summary there = apgas::at(q, [sorted] { return summary(*sorted); });
    ordered = ordered && there.ordered && (there.count == 0 || last <= there.first);
    if (there.count != 0) last = there.last;
    count += there.count;
    checksum += there.checksum;
    most = std::max(most, there.count);
  }
  const summary wanted(input_of(p, 0, 1));
  const bool same = count == wanted.count && checksum == wanted.checksum;
  return {ordered && same, static_cast<double>(most) * places / static_cast<double>(p.keys)};
}

int sort_and_report(const plan& p, const std::string& variant) {
  const auto sorted = apgas::place_local<keys>::make(
      apgas::places(),
      [](const plan& all, bool at_one) {
        if (at_one) return apgas::here().id() == 0 ? input_of(all, 0, 1) : keys();
        return input_of(all, apgas::here().id(), apgas::num_places());
      },
      p, variant == "serial");
  const apps::stopwatch clock;
  if (variant == "serial") {
    std::ranges::sort(*sorted);
  } else {
    apgas::finish([sorted] {
      apgas::async_at(apgas::places(), [sorted] { sort_here(apgas::team::world(), *sorted); });
    });
  }
  const double seconds = clock.seconds();
  const check_result result = check(p, sorted);
  return apps::report("sort", seconds, result.verified,
                      {{"variant", variant},
                       {"keys", p.keys},
                       {"largest_share", result.largest_share},
                       {"keys_per_second", static_cast<double>(p.keys) / seconds}});
}

}  // namespace

int main(int argc, char** argv) {
  plan p{.keys = 1'000'000, .distinct = 0, .seed = 1, .ascending = false};
  std::string variant = "sample";
  apps::command_line line("sort", "Sorts keys over all places by sample sort.");
  line.option("-n,--keys", p.keys, 1, 2'000'000'000, "number of keys of all places together");
  line.option("--distinct", p.distinct, 0, 2'000'000'000, "number of different keys; 0: no limit");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the keys");
  line.flag("--ascending", p.ascending, "the keys are in order already");
  line.choice("--variant", variant, {"sample", "serial"},
              "over all places, or std::sort at one place");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] { return sort_and_report(p, variant); });
}
