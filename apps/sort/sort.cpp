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
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "sort/samples.hpp"
#include "support/command_line.hpp"
#include "support/exchange.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using sorting::key;
using sorting::keys;
using sorting::plan;
using sorting::sample;
using sorting::summary;

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

// The first key of the range of each member except the first. A collective.
std::vector<sample> splitters(const apgas::team& team, const keys& mine) {
  const std::vector<sample> some = sorting::samples(mine, team.index(), team.size());
  std::vector<sample> all;
  for (const auto& each : team.gather(some, apgas::place())) {
    all.insert(all.end(), each.begin(), each.end());
  }
  std::vector<sample> chosen;
  if (team.index() == 0) chosen = sorting::choose_splitters(std::move(all), team.size());
  return team.broadcast(chosen, apgas::place());
}

// A collective: replaces the keys of this place by those of its range.
void sort_here(const apgas::team& team, keys& mine) {
  apgas::parallel::sort(mine);
  auto came = apps::exchange(team, sorting::divide(mine, splitters(team, mine), team.index()));
  merge_runs(came.values, came.bounds);
  mine = std::move(came.values);
}

sorting::total sum_up(const apgas::place_local<keys>& sorted) {
  sorting::total sum;
  for (const apgas::place q : apgas::places()) {
    sum.add(apgas::at(q, [sorted] { return summary(*sorted); }));
  }
  return sum;
}

int sort_and_report(const plan& p, const std::string& variant) {
  const auto sorted = apgas::place_local<keys>::make(
      apgas::places(),
      [](const plan& all, bool at_one) {
        if (at_one) return apgas::here().id() == 0 ? sorting::input_of(all, 0, 1) : keys();
        return sorting::input_of(all, apgas::here().id(), apgas::num_places());
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
  const sorting::total sum = sum_up(sorted);
  return apps::report("sort", seconds, sum.matches(p),
                      {{"variant", variant},
                       {"keys", p.keys},
                       {"largest_share", sum.largest_share(p, apgas::num_places())},
                       {"keys_per_second", static_cast<double>(p.keys) / seconds}});
}

}  // namespace

int main(int argc, char** argv) {
  plan p{.keys = 1'000'000, .distinct = 0, .seed = 1, .ascending = false};
  std::string variant = "sample";
  apps::command_line line("sort", "Sorts keys over all places by sample sort.");
  line.option("-n,--keys", p.keys, 1, sorting::most_keys, "number of keys of all places together");
  line.option("--distinct", p.distinct, 0, sorting::most_keys,
              "number of different keys; 0: no limit");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the keys");
  line.flag("--ascending", p.ascending, "the keys are in order already");
  line.choice("--variant", variant, {"sample", "serial"},
              "over all places, or std::sort at one place");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    const apps::placement all = variant == "sample" ? apps::placement_of_job() : apps::placement();
    const double bytes = p.bytes(all, apps::copies_in_exchange(all.places));
    if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
      return line.refuse("--keys: " + problem + "; choose fewer");
    }
    return sort_and_report(p, variant);
  });
}
