// SPDX-License-Identifier: Apache-2.0

// apps/comd in plain MPI: a slab at each rank, and messages to the ranks of the slabs below and
// above by MPI_Isend, MPI_Probe and MPI_Recv.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comd/result.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"

namespace {

using comd::above;
using comd::below;
using comd::both_sides;
using comd::slab_outcome;

template <class T>
int bytes_of(const std::vector<T>& values) {
  return static_cast<int>(values.size() * sizeof(T));
}

// Receives a message whose size is not known.
template <class T>
std::vector<T> receive(int from, int tag) {
  MPI_Status status;
  MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::vector<T> values(static_cast<std::size_t>(bytes) / sizeof(T));
  MPI_Recv(values.data(), bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return values;
}

class by_rank {
 public:
  explicit by_rank(const peers::job& job)
      : lower_((job.rank() + job.size() - 1) % job.size()),
        upper_((job.rank() + 1) % job.size()),
        alone_(job.size() == 1) {}

  template <class F>
  void each(std::size_t n, const F& f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }

  template <class T>
  both_sides<T> exchange(both_sides<T> out) const {
    if (alone_) return comd::exchange_with_itself(std::move(out));
    constexpr int downwards = 0;
    constexpr int upwards = 1;
    std::array<MPI_Request, 2> sent{};
    MPI_Isend(out[below].data(), bytes_of(out[below]), MPI_BYTE, lower_, downwards, MPI_COMM_WORLD,
              &sent[below]);
    MPI_Isend(out[above].data(), bytes_of(out[above]), MPI_BYTE, upper_, upwards, MPI_COMM_WORLD,
              &sent[above]);
    both_sides<T> in;
    in[below] = receive<T>(lower_, upwards);
    in[above] = receive<T>(upper_, downwards);
    MPI_Waitall(2, sent.data(), MPI_STATUSES_IGNORE);
    return in;
  }

 private:
  int lower_;
  int upper_;
  bool alone_;
};

constexpr int outcome_tag = 2;

// Rank 0 gets the outcomes of all ranks.
std::vector<slab_outcome> gather(const peers::job& job, slab_outcome own) {
  std::vector<slab_outcome> all;
  if (job.rank() != 0) {
    MPI_Send(&own.seconds, 1, MPI_DOUBLE, 0, outcome_tag, MPI_COMM_WORLD);
    MPI_Send(own.energies_of_step.data(), bytes_of(own.energies_of_step), MPI_BYTE, 0, outcome_tag,
             MPI_COMM_WORLD);
    MPI_Send(own.atoms.data(), bytes_of(own.atoms), MPI_BYTE, 0, outcome_tag, MPI_COMM_WORLD);
    return all;
  }
  all.push_back(std::move(own));
  for (int rank = 1; rank < job.size(); ++rank) {
    slab_outcome other;
    other.seconds = receive<double>(rank, outcome_tag).front();
    other.energies_of_step = receive<comd::energies>(rank, outcome_tag);
    other.atoms = receive<comd::atom>(rank, outcome_tag);
    all.push_back(std::move(other));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  comd::problem p;
  std::int64_t seed = 1;
  apps::command_line line("comd_mpi", "Molecular dynamics of copper atoms, in slabs, by MPI.");
  line.option("--lattice", p.lattice, 4, 100, "unit cells along each edge, of four atoms each");
  line.option("--steps", p.steps, 1, 100'000, "time steps of 1 fs");
  line.option("--seed", seed, 0, 1'000'000'000, "seed of the momenta");
  if (const auto code = line.parse(argc, argv)) return *code;
  p.seed = static_cast<std::uint64_t>(seed);
  const peers::job job(argc, argv);
  const std::uint32_t cells = comd::cube(p.lattice).cells();
  if (std::cmp_less(cells, job.size())) {
    return line.refuse("--lattice " + std::to_string(p.lattice) + ": the cube has " +
                       std::to_string(cells) + " link cells along x, fewer than the " +
                       std::to_string(job.size()) +
                       " ranks; choose a larger lattice or fewer ranks");
  }
  if (const auto problem = apps::beyond_memory(p.bytes(job.placement())); !problem.empty()) {
    return line.refuse("--lattice: " + problem + "; choose a smaller one");
  }
  by_rank how(job);
  slab_outcome own = comd::run_slab(p, static_cast<std::size_t>(job.rank()),
                                    static_cast<std::size_t>(job.size()), how);
  const std::vector<slab_outcome> all = gather(job, std::move(own));
  comd::result r;
  if (job.rank() == 0) r = comd::combine("comd_mpi", p, all);
  return job.report("comd_mpi", r.seconds, r.found.wrong.empty(), r.figures);
}
