// SPDX-License-Identifier: Apache-2.0

// apps/sort in plain MPI: a sample sort with std::sort at each rank, one MPI_Alltoallv of the keys,
// and merges of the runs that arrive.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "peers/exchange.hpp"
#include "peers/job.hpp"
#include "sort/samples.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

using sorting::keys;
using sorting::sample;
using sorting::summary;

// MPI_Alltoallv counts by int.
constexpr std::int64_t most_keys_of_a_rank = 2'000'000'000;

// The first key of the range of each rank except the first.
std::vector<sample> splitters(const keys& mine, const peers::job& job) {
  const auto ranks = static_cast<std::size_t>(job.size());
  std::vector<std::vector<sample>> outgoing(ranks);
  outgoing.front() = sorting::samples(mine, static_cast<std::size_t>(job.rank()), ranks);
  auto all = peers::exchange(outgoing).values;
  std::vector<sample> chosen(ranks - 1);
  if (job.rank() == 0) chosen = sorting::choose_splitters(std::move(all), ranks);
  MPI_Bcast(chosen.data(), static_cast<int>(chosen.size() * sizeof(sample)), MPI_BYTE, 0,
            MPI_COMM_WORLD);
  return chosen;
}

// Merges the sorted runs [bounds[i], bounds[i + 1]).
void merge_runs(keys& all, std::span<const std::size_t> bounds) {
  const std::size_t runs = bounds.size() - 1;
  if (runs < 2) return;
  const std::size_t half = runs / 2;
  merge_runs(all, bounds.first(half + 1));
  merge_runs(all, bounds.subspan(half));
  const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  std::inplace_merge(at(bounds.front()), at(bounds[half]), at(bounds.back()));
}

void sort_here(const peers::job& job, keys& mine) {
  std::ranges::sort(mine);
  const auto rank = static_cast<std::size_t>(job.rank());
  auto came = peers::exchange(sorting::divide(mine, splitters(mine, job), rank));
  merge_runs(came.values, came.bounds);
  mine = std::move(came.values);
}

int sort_and_report(const peers::job& job, const sorting::plan& p) {
  keys mine = sorting::input_of(p, job.rank(), job.size());
  const peers::common_time clock;
  sort_here(job, mine);
  const double seconds = clock.seconds();
  const summary here(mine);
  std::vector<summary> all(static_cast<std::size_t>(job.size()), here);
  MPI_Gather(&here, sizeof(summary), MPI_BYTE, all.data(), sizeof(summary), MPI_BYTE, 0,
             MPI_COMM_WORLD);
  sorting::total sum;
  for (const summary& each : all) sum.add(each);
  const bool verified = job.rank() != 0 || sum.matches(p);
  return job.report("sort_mpi", seconds, verified,
                    {{"keys", p.keys},
                     {"largest_share", sum.largest_share(p, job.size())},
                     {"keys_per_second", static_cast<double>(p.keys) / seconds}});
}

}  // namespace

int main(int argc, char** argv) {
  sorting::plan p{.keys = 1'000'000, .distinct = 0, .seed = 1, .ascending = false};
  apps::command_line line("sort_mpi", "Sorts keys over all ranks by sample sort, by MPI.");
  line.option("-n,--keys", p.keys, 1, sorting::most_keys, "number of keys of all ranks together");
  line.option("--distinct", p.distinct, 0, sorting::most_keys,
              "number of different keys; 0: no limit");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the keys");
  line.flag("--ascending", p.ascending, "the keys are in order already");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  const double bytes = p.bytes(job.placement(), peers::copies_in_exchange);
  if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
    return line.refuse("--keys: " + problem + "; choose fewer");
  }
  if (p.keys / job.size() > most_keys_of_a_rank) {
    return line.refuse(
        "--keys: more than 2 * 10^9 for each rank, which MPI cannot send; choose "
        "fewer keys, or more ranks");
  }
  return sort_and_report(job, p);
}
