// SPDX-License-Identifier: Apache-2.0

// apps/arrays in plain MPI: each rank has a block of the elements, works on it with the algorithm
// of std, and combines the results by a collective operation.

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "arrays/input.hpp"
#include "arrays/run.hpp"
#include "peers/exchange.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

using arrays::input;
using elements = std::vector<double>;

double reduce(const elements& mine) {
  double sum = std::reduce(mine.begin(), mine.end());
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

std::size_t minimum(const elements& mine, std::size_t first) {
  struct {
    double value;
    int index;
  } least{HUGE_VAL, INT_MAX};
  if (!mine.empty()) {
    const auto found = std::ranges::min_element(mine);
    least = {*found, static_cast<int>(first + static_cast<std::size_t>(found - mine.begin()))};
  }
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  return static_cast<std::size_t>(least.index);
}

std::vector<std::size_t> histogram(const elements& mine) {
  std::vector<std::size_t> counts(arrays::buckets);
  for (const double x : mine) ++counts[arrays::bucket_of(x)];
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  return counts;
}

void scan(const elements& mine, elements& out) {
  const double sum = std::reduce(mine.begin(), mine.end());
  double before = 0;
  MPI_Exscan(&sum, &before, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::inclusive_scan(mine.begin(), mine.end(), out.begin(), std::plus<>(), before);
}

// The first element of the range of each rank except the first, from samples of all ranks.
elements splitters(const elements& mine, const peers::job& job) {
  const auto ranks = static_cast<std::size_t>(job.size());
  const std::size_t wanted = std::min(mine.size(), 64 * ranks);
  std::vector<elements> outgoing(ranks);
  for (std::size_t k = 0; k < wanted; ++k) {
    outgoing[0].push_back(mine[(2 * k + 1) * mine.size() / (2 * wanted)]);
  }
  elements all = peers::exchange(outgoing).values;
  std::ranges::sort(all);
  elements chosen(ranks - 1);
  for (std::size_t i = 1; job.rank() == 0 && i < ranks; ++i) {
    chosen[i - 1] = all[i * all.size() / ranks];
  }
  MPI_Bcast(chosen.data(), static_cast<int>(chosen.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return chosen;
}

// A sample sort. The ranks have other numbers of elements afterwards.
void sort(elements& mine, const peers::job& job) {
  std::ranges::sort(mine);
  std::vector<elements> outgoing;
  auto from = mine.begin();
  for (const double splitter : splitters(mine, job)) {
    const auto to = std::lower_bound(from, mine.end(), splitter);
    outgoing.emplace_back(from, to);
    from = to;
  }
  outgoing.emplace_back(from, mine.end());
  auto came = peers::exchange(outgoing);
  const auto at = [&](std::size_t i) {
    return came.values.begin() + static_cast<std::ptrdiff_t>(came.bounds[i]);
  };
  const auto ranks = static_cast<std::size_t>(job.size());
  for (std::size_t width = 1; width < ranks; width *= 2) {
    for (std::size_t i = 0; i + width < ranks; i += 2 * width) {
      std::inplace_merge(at(i), at(i + width), at(std::min(i + 2 * width, ranks)));
    }
  }
  mine = std::move(came.values);
}

bool is_sorted(const elements& mine, const input& in, const peers::job& job) {
  const arrays::summary here(mine);
  std::vector<arrays::summary> all(static_cast<std::size_t>(job.size()));
  MPI_Gather(&here, sizeof here, MPI_BYTE, all.data(), sizeof here, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (job.rank() != 0) return true;
  arrays::summary whole;
  for (const arrays::summary& each : all) whole.add(each);
  return whole.is_sorted_form_of(in);
}

class over_ranks {
 public:
  using stopwatch = peers::common_time;

  over_ranks(const arrays::options& o, const peers::job& job)
      : job_(job),
        first_(static_cast<std::size_t>(o.in.size * job.rank() / job.size())),
        original_(
            o.in.some(first_, static_cast<std::size_t>(o.in.size * (job.rank() + 1) / job.size()))),
        mine_(original_),
        out_(o.operation == "scan" ? mine_.size() : 0) {}

  [[nodiscard]] double reduce() const { return ::reduce(mine_); }
  [[nodiscard]] std::size_t minimum() const { return ::minimum(mine_, first_); }
  [[nodiscard]] std::vector<std::size_t> histogram() const { return ::histogram(mine_); }
  void scan() { ::scan(mine_, out_); }
  void sort() { ::sort(mine_, job_); }
  void restore() { mine_ = original_; }
  [[nodiscard]] bool scan_is_right(const input& in) const {
    return are_prefix_sums(in, first_, out_);
  }
  [[nodiscard]] bool sort_is_right(const input& in) const { return is_sorted(mine_, in, job_); }

 private:
  const peers::job& job_;
  std::size_t first_;
  elements original_;
  elements mine_;
  elements out_;
};

}  // namespace

int main(int argc, char** argv) {
  arrays::options o;
  apps::command_line line("arrays_mpi", "Runs an algorithm over the blocks of all ranks, by MPI.");
  o.declare(line);
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  // Each rank keeps its elements also in their original order.
  const double bytes =
      o.bytes(job.placement(), {.kept = 2, .while_sorting = 2 + peers::copies_in_exchange});
  if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
    return line.refuse("--elements: " + problem + "; choose fewer");
  }
  over_ranks way(o, job);
  const arrays::outcome result = arrays::run(o, way);
  return job.report("arrays_mpi", result.seconds, result.verified, o.figures(result.seconds));
}
