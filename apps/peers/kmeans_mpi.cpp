// SPDX-License-Identifier: Apache-2.0

// apps/kmeans in plain MPI: each rank has a block of the points, and one MPI_Allreduce for each
// round combines the sums, the counts and the numbers of changes of all clusters.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kmeans/lloyd.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

using kmeans::cluster;

// Adds up the clusters of all ranks. The counts are exact as floating-point numbers.
void add_up(std::vector<cluster>& sums, std::vector<double>& numbers) {
  constexpr std::size_t each = kmeans::dimensions + 2;
  numbers.resize(sums.size() * each);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    double* const mine = &numbers[c * each];
    for (std::size_t d = 0; d < kmeans::dimensions; ++d) mine[d] = sums[c].sum[d];
    mine[each - 2] = static_cast<double>(sums[c].count);
    mine[each - 1] = static_cast<double>(sums[c].changed);
  }
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const double* const all = &numbers[c * each];
    for (std::size_t d = 0; d < kmeans::dimensions; ++d) sums[c].sum[d] = all[d];
    sums[c].count = static_cast<std::int64_t>(all[each - 2]);
    sums[c].changed = static_cast<std::int64_t>(all[each - 1]);
  }
}

// The blocks of all ranks, in order, at rank 0.
std::vector<int> gather(const std::vector<int>& mine, const peers::job& job) {
  const auto ranks = static_cast<std::size_t>(job.size());
  const int size = static_cast<int>(mine.size());
  std::vector<int> sizes(ranks);
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> firsts(ranks);
  std::exclusive_scan(sizes.begin(), sizes.end(), firsts.begin(), 0);
  std::vector<int> all(static_cast<std::size_t>(firsts.back() + sizes.back()));
  MPI_Gatherv(mine.data(), size, MPI_INT, all.data(), sizes.data(), firsts.data(), MPI_INT, 0,
              MPI_COMM_WORLD);
  return all;
}

int cluster_and_report(const peers::job& job, const kmeans::plan& p) {
  const std::int64_t first = p.points * job.rank() / job.size();
  const std::int64_t last = p.points * (job.rank() + 1) / job.size();
  std::vector<kmeans::point> points;
  for (std::int64_t i = first; i < last; ++i) {
    points.push_back(p.point_at(static_cast<std::size_t>(i)));
  }
  std::vector<int> assigned(points.size(), -1);
  std::vector<double> numbers;
  const peers::common_time clock;
  const kmeans::outcome o = kmeans::cluster_points(p, [&](const kmeans::centres& all) {
    std::vector<cluster> sums = kmeans::assign(points, assigned, all);
    add_up(sums, numbers);
    return sums;
  });
  const double seconds = clock.seconds();
  const std::vector<int> all = gather(assigned, job);
  kmeans::check_result result;
  if (job.rank() == 0) result = kmeans::check(p, o, all);
  return job.report("kmeans_mpi", seconds, result.right(),
                    {{"points", p.points},
                     {"clusters", p.clusters},
                     {"rounds", o.rounds},
                     {"difference", result.difference},
                     {"wrong", result.wrong},
                     {"inertia", result.inertia}});
}

}  // namespace

int main(int argc, char** argv) {
  kmeans::plan p{.points = 10'000'000, .clusters = 30, .rounds = 10, .seed = 1};
  apps::command_line line("kmeans_mpi", "Finds clusters of points over all ranks, by MPI.");
  line.option("-n,--points", p.points, 1, 100'000'000, "points of three coordinates");
  line.option("-k,--clusters", p.clusters, 1, 4096, "clusters, at most as many as points");
  line.option("--rounds", p.rounds, 0, 1'000'000, "largest number of rounds");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the points");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  if (p.points < p.clusters) return line.refuse("--clusters: more clusters than points");
  if (const auto problem = apps::beyond_memory(p.bytes(job.placement())); !problem.empty()) {
    return line.refuse("--points: " + problem + "; choose fewer");
  }
  return cluster_and_report(job, p);
}
