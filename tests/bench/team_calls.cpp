// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "team_calls.hpp"

#if defined(BENCH_MPI)
#include <mpi.h>
#endif

#include <apgas/apgas.hpp>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

// The data of one member of `n`, and the check of the result.
class team_data {
 public:
  team_data(const team_work& work, int n, int me)
      : n_(n), me_(me), each_(work.bytes / sizeof(double)), out(each_), in(each_) {
    const std::size_t of_all = each_ * static_cast<std::size_t>(n);
    if (work.call == team_call::alltoall) {
      out.resize(of_all);
      in.resize(of_all);
    }
    if (work.call == team_call::gather) in.resize(me == 0 ? of_all : 0);
    if (work.call == team_call::scatter) out.resize(me == 0 ? of_all : 0);
    if (work.call == team_call::reduce && me != 0) in.clear();
  }

  void fill(double value) {
    out.assign(out.size(), value);
    in.assign(in.size(), value);
  }
  void fill() { fill(me_ + 1); }
  // Whether the result is right after one call on the values of fill().
  bool right(team_call call) const {
    const double sum = 0.5 * n_ * (n_ + 1);
    for (std::size_t i = 0; i < in.size(); ++i) {
      double expected = 0;
      if (call == team_call::allreduce || call == team_call::reduce) expected = sum;
      if (call == team_call::broadcast || call == team_call::scatter) expected = 1;
      const std::size_t sender = i / each_;
      if (call == team_call::alltoall || call == team_call::gather) {
        expected = static_cast<double>(sender + 1);
      }
      if (in[i] != expected) return false;
    }
    return true;
  }

 private:
  int n_;
  int me_;
  std::size_t each_;

 public:
  std::vector<double> out;
  std::vector<double> in;
};

// One call whose result is checked, then a barrier and the timed rounds. The timed rounds add
// zeros, because sums that grow without end would become infinities.
template <class Call, class Barrier>
sample rounds_of(const team_work& work, team_data& data, Call call, Barrier barrier) {
  data.fill();
  call();
  const bool correct = data.right(work.call);
  data.fill(0);
  barrier();
  const auto begin = clock::now();
  for (int i = 0; i < work.rounds; ++i) call();
  return {std::chrono::duration<double>(clock::now() - begin).count(), correct};
}

void call_team(const apgas::team& t, team_call what, team_data& data) {
  switch (what) {
    case team_call::barrier:
      return t.barrier();
    case team_call::broadcast:
      return t.broadcast(std::span(data.in), apgas::place());
    case team_call::reduce:
      return t.reduce(std::span<const double>(data.out), std::span(data.in), std::plus<>(),
                      apgas::place());
    case team_call::scatter:
      return t.scatter(std::span<const double>(data.out), std::span(data.in), apgas::place());
    case team_call::allreduce:
      return t.allreduce(std::span(data.in), std::plus<>());
    case team_call::gather:
      return t.gather(std::span<const double>(data.out), std::span(data.in), apgas::place());
    case team_call::alltoall:
      return t.alltoall(std::span(data.out), std::span(data.in));
  }
}

}  // namespace

sample team_rounds(const team_work& work) {
  const apgas::team t = apgas::team::world();
  sample mine;
  bool all_correct = true;
  const auto at_a_place = [](const apgas::team& team, team_call what, std::size_t bytes,
                             int rounds) {
    const team_work here{"", what, bytes, rounds};
    team_data data(here, static_cast<int>(team.size()), static_cast<int>(team.index()));
    return rounds_of(here, data, [&] { call_team(team, what, data); }, [&] { team.barrier(); });
  };
  apgas::finish([&] {
    for (const apgas::place p : apgas::places()) {
      if (p == apgas::here()) continue;
      apgas::async_at(
          p,
          [at_a_place](const apgas::team& team, team_call what, std::size_t bytes, int rounds) {
            const bool right = at_a_place(team, what, bytes, rounds).correct;
            static_cast<void>(team.reduce(right, std::logical_and<>(), apgas::place()));
          },
          t, work.call, work.bytes, work.rounds);
    }
    mine = at_a_place(t, work.call, work.bytes, work.rounds);
    all_correct = t.reduce(mine.correct, std::logical_and<>(), apgas::place()).value();
  });
  return {mine.seconds, all_correct};
}

#if defined(BENCH_MPI)

sample mpi_rounds(const team_work& work) {
  int n = 0;
  int me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  team_data data(work, n, me);
  const auto count = static_cast<int>(work.bytes / sizeof(double));
  const auto call = [&] {
    switch (work.call) {
      case team_call::barrier:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
      case team_call::broadcast:
        MPI_Bcast(data.in.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        break;
      case team_call::reduce:
        MPI_Reduce(data.out.data(), data.in.data(), count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
      case team_call::scatter:
        MPI_Scatter(data.out.data(), count, MPI_DOUBLE, data.in.data(), count, MPI_DOUBLE, 0,
                    MPI_COMM_WORLD);
        break;
      case team_call::allreduce:
        MPI_Allreduce(MPI_IN_PLACE, data.in.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
      case team_call::gather:
        MPI_Gather(data.out.data(), count, MPI_DOUBLE, data.in.data(), count, MPI_DOUBLE, 0,
                   MPI_COMM_WORLD);
        break;
      case team_call::alltoall:
        MPI_Alltoall(data.out.data(), count, MPI_DOUBLE, data.in.data(), count, MPI_DOUBLE,
                     MPI_COMM_WORLD);
        break;
    }
  };
  return rounds_of(work, data, call, [] { MPI_Barrier(MPI_COMM_WORLD); });
}

#else

sample mpi_rounds(const team_work&) { return {}; }

#endif

}  // namespace bench
