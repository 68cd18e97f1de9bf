// SPDX-License-Identifier: Apache-2.0

// What the collectives of a team cost, beside those of plain MPI in the same job, and what it costs
// to synchronise all places by a finish or a clock, beside MPI_Barrier:
//
//   mpirun -n 2 team_bench                                  with the transport shm
//   APGAS_TRANSPORT=mpi mpirun -n 4 team_bench
//   APGAS_TRANSPORT=local APGAS_PLACES=2 team_bench         places in one process, no peer
//
// A repetition consists of one round of plain MPI by the main threads, with all collectives in
// turn, and then an apgas::run that does the same by a task at each place. Each place has one
// worker.

#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <apgas/apgas.hpp>

#include "barrier_calls.hpp"
#include "options.hpp"
#include "raw_mpi.hpp"
#include "report.hpp"
#include "team_calls.hpp"

namespace {

struct options : bench::run_options {
  options() { repetitions = 15; }

  double idle_seconds = 3;
  int factor = 10;  // of the rounds of --quick
  std::string only;
};

// Calls that are not collectives but also synchronise places. MPI_Barrier is their peer.
struct other_call {
  const char* name;
  bench::sample (*run)(int rounds);
  double barriers;  // how many MPI_Barriers the call may take; 0: it has no peer
};
constexpr other_call other_calls[] = {
    {"finish, a task at each place", bench::finishes_over_all, 3},
    {"phase of a clock, a task at each place",
     [](int rounds) { return bench::phases_over(apgas::num_places(), rounds); }, 3},
    {"at, 8 B, to the last place", bench::calls_to_last, 0}};

const other_call* find_other_call(const std::string& name) {
  for (const other_call& m : other_calls) {
    if (m.name == name) return &m;
  }
  return nullptr;
}

std::vector<bench::team_work> work_of(const options& o) {
  using bench::team_call;
  const int factor = o.quick ? 1 : o.factor;
  std::vector<bench::team_work> all = {
      {"barrier", team_call::barrier, 0, 100 * factor},
      {"allreduce, 8 B", team_call::allreduce, 8, 100 * factor},
      {"allreduce, 1 KiB", team_call::allreduce, 1 << 10, 100 * factor},
      {"allreduce, 64 KiB", team_call::allreduce, 64 << 10, 20 * factor},
      {"allreduce, 1 MiB", team_call::allreduce, 1 << 20, 4 * factor},
      {"broadcast, 1 MiB", team_call::broadcast, 1 << 20, 4 * factor},
      {"reduce, 8 B", team_call::reduce, 8, 100 * factor},
      {"reduce, 1 MiB", team_call::reduce, 1 << 20, 4 * factor},
      {"scatter, 64 KiB each", team_call::scatter, 64 << 10, 10 * factor},
      {"gather, 8 B", team_call::gather, 8, 100 * factor},
      {"gather, 64 KiB", team_call::gather, 64 << 10, 10 * factor},
      {"alltoall, 8 B each", team_call::alltoall, 8, 100 * factor},
      {"alltoall, 64 KiB each", team_call::alltoall, 64 << 10, 10 * factor}};
  for (const other_call& m : other_calls) {
    all.push_back({m.name, team_call::barrier, 0, 100 * factor});
  }
  std::erase_if(all, [&](const auto& w) { return w.name.find(o.only) == std::string::npos; });
  return all;
}

std::vector<bench::finding> empty_findings(const std::vector<bench::team_work>& all,
                                           bool with_mpi) {
  std::vector<bench::finding> findings;
  for (const bench::team_work& w : all) {
    const other_call* const other = find_other_call(w.name);
    bench::finding f{{w.name, "call", static_cast<double>(w.rounds), 0, {}}, {}};
    f.results.push_back({{"apgas team", bench::role::ours, 1, {}}, {}, true});
    const char* const peer = other == nullptr ? "MPI" : "MPI_Barrier";
    if (with_mpi && (other == nullptr || other->barriers != 0)) {
      f.results.push_back({{peer, bench::role::peer, 1, {}}, {}, true});
    }
    findings.push_back(std::move(f));
  }
  return findings;
}

void keep(bench::result& r, const bench::sample& s, bool counts) {
  if (counts) r.seconds.push_back(s.seconds);
  r.correct = r.correct && s.correct;
}

// One repetition, called by all processes of the job. Returns the exit code of apgas::run.
int run_once(int argc, char** argv, const std::vector<bench::team_work>& all,
             const bench::raw_mpi& mpi, std::vector<bench::finding>& findings, bool counts,
             double idle_seconds, double& idle) {
  for (std::size_t i = 0; mpi.there() && i < all.size(); ++i) {
    if (findings[i].results.size() > 1) {
      keep(findings[i].results[1], bench::mpi_rounds(all[i]), counts);
    }
  }
  apgas::config settings;
  settings.workers = 1;
  return apgas::run(argc, argv, settings, [&] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const other_call* const meets = find_other_call(all[i].name);
      keep(findings[i].results[0],
           meets == nullptr ? bench::team_rounds(all[i]) : meets->run(all[i].rounds), counts);
    }
    if (!counts) idle = bench::idle_cores(idle_seconds, !mpi.there());
  });
}

int run_all(int argc, char** argv, const options& o) {
  const bench::raw_mpi mpi(argc, argv);
  const std::vector<bench::team_work> all = work_of(o);
  std::vector<bench::finding> findings = empty_findings(all, mpi.there());
  bench::run_report report("team_bench", o);
  double idle = 0;
  for (int i = -1; i < o.rounds(); ++i) {
    const int code =
        run_once(argc, argv, all, mpi, findings, i >= 0, o.quick ? 0.1 : o.idle_seconds, idle);
    if (code != 0) return code;
  }
  if (mpi.there() && !mpi.first()) return 0;
  std::vector<bench::demand> demands;
  const double over_mpi = mpi.processes() <= 2 ? 1 : 1.5;
  for (const bench::finding& f : findings) {
    report.add(f);
    if (f.results.size() == 1 || mpi.processes() == 1) continue;
    const other_call* const meets = find_other_call(f.what.name);
    demands.push_back({f.what.name + (meets != nullptr ? ", over MPI_Barrier" : ", over MPI's"),
                       f.results[0].least() / f.results[1].least(),
                       meets != nullptr ? meets->barriers : over_mpi, true, "x"});
  }
  demands.push_back({"an idle job, cores of all places", idle * 100, 1, true, "%"});
  report.note("places", mpi.there() ? mpi.processes() : 0);
  return report.end(demands);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Collectives of teams and other ways to synchronise places, beside plain MPI");
  bench::add_options(app, o);
  app.add_option("--factor", o.factor, "multiplies the number of rounds")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--idle", o.idle_seconds, "seconds to idle")->check(CLI::Range(0.1, 3600.));
  app.add_option("--only", o.only, "only calls whose name contains this");
  CLI11_PARSE(app, argc, argv);
  return run_all(argc, argv, o);
}
