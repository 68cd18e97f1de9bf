// SPDX-License-Identifier: Apache-2.0

// What messages between two places cost, beside plain MPI, plain UCX and two bare rings in shared
// memory, in the same job:
//
//   mpirun -n 2 place_bench                                  with the transport shm
//   APGAS_TRANSPORT=ucx mpirun -n 2 place_bench              or mpi
//   APGAS_TRANSPORT=local APGAS_PLACES=2 place_bench         two places in one process, no peer
//   mpirun -n 8 --oversubscribe place_bench --workers 2      more places and workers
//   APGAS_TRANSPORT=local APGAS_PLACES=1 place_bench         one place to itself, no peer
//
// A repetition consists of one round of each peer by the main threads, and then an apgas::run that
// does the same by `at`, for each size in turn. Messages travel between the first two places.
// Others have nothing to do, and their main threads sleep while the peers run. The rings carry only
// the short messages; they show what the hardware allows between two cores. For long messages there
// is also a round in which UCX returns the bytes that it received, and the ways of the library to
// receive without zeroing.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <apgas/apgas.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/places/place_report.hpp>

#include "barrier_calls.hpp"
#include "options.hpp"
#include "place_calls.hpp"
#include "raw_mpi.hpp"
#include "raw_ring.hpp"
#include "raw_ucx.hpp"
#include "report.hpp"

namespace {

struct options : bench::run_options {
  options() { repetitions = 15; }

  int workers = 1;  // of each place
  int tasks = 200'000;
  double idle_seconds = 3;
};

struct exchange {
  const char* name;
  std::size_t bytes;
  int rounds;

  bool is_long() const { return bytes >= apgas::comm::zero_copy_min_bytes; }
  bool fits_ring() const { return bytes <= bench::raw_ring::max_bytes; }
};

struct measured {
  std::vector<bench::finding> trips;
  bench::finding futures;
  bench::finding lone;
  std::uint64_t lone_waited = 0;
  bench::finding finishes;
  bench::finding phases;
  bench::finding tasks;
  bench::one_way last;
  double idle = 0;
  std::string transport;
  int places = 0;
};

// The variants that only long round trips have. All return the bytes that they were sent, except
// the last, which returns bytes of place 1.
constexpr const char* own_bytes = "apgas at_into, own bytes";
constexpr const char* long_variants[] = {"apgas at, not zeroed", "apgas at_into", own_bytes};

bool is_peer(const std::string& variant) { return !variant.starts_with("apgas"); }

bench::finding make_finding(const std::string& name, const std::string& operation, double count,
                            const std::vector<std::string>& variants, int workers) {
  bench::finding f{{name, operation, count, 0, {}}, {}};
  for (const std::string& v : variants) {
    const bench::variant of = is_peer(v) ? bench::variant{v, bench::role::peer, 1, {}}
                                         : bench::variant{v, bench::role::ours, workers, {}};
    f.results.push_back({of, {}, true});
  }
  return f;
}

// Of a variant that the finding has.
void keep(bench::finding& f, const std::string& variant, const bench::sample& s, bool counts) {
  for (bench::result& r : f.results) {
    if (r.of.name != variant) continue;
    if (counts) r.seconds.push_back(s.seconds);
    r.correct = r.correct && s.correct;
  }
}

// Plain UCX is measured unless the library is told to use MPI.
bool measures_ucx() {
  const char* const transport = std::getenv("APGAS_TRANSPORT");
  return apgas::comm::ucx_available() && (transport == nullptr || transport != std::string("mpi"));
}

struct peers {
  peers(int argc, char** argv)
      : mpi(argc, argv), ucx(mpi.measures() && measures_ucx()), ring(mpi.measures()) {}

  bench::raw_mpi mpi;
  bench::raw_ucx ucx;
  bench::raw_ring ring;
};

std::vector<exchange> exchanges(bool quick) {
  const int factor = quick ? 1 : 10;
  return {{"8 B", 8, 100 * factor},
          {"1 KiB", 1 << 10, 100 * factor},
          {"64 KiB", 64 << 10, 20 * factor},
          {"1 MiB", 1 << 20, 2 * factor}};
}

measured empty_findings(const options& o, const peers& others) {
  measured m;
  const auto variants = [&](const char* ours, bool with_ring) {
    std::vector<std::string> all = {ours};
    if (others.mpi.measures()) all.emplace_back("MPI");
    if (others.ucx.there()) all.emplace_back("UCX");
    if (with_ring && others.ring.there()) all.emplace_back("ring");
    return all;
  };
  for (const exchange& e : exchanges(o.quick)) {
    std::vector<std::string> all = variants("apgas at", e.fits_ring());
    if (e.is_long()) all.insert(all.end(), std::begin(long_variants), std::end(long_variants));
    if (others.ucx.there()) all.emplace_back("UCX echo");
    m.trips.push_back(make_finding(fmt::format("round trip, {} there and back", e.name),
                                   "round trip", e.rounds, all, o.workers));
  }
  const int rounds = exchanges(o.quick)[0].rounds;
  m.futures = make_finding("async_future_at of 8 B and its value", "round trip", rounds,
                           variants("apgas async_future_at", true), o.workers);
  m.lone = make_finding("single async_at of 8 B there and back", "round trip", rounds,
                        variants("apgas async_at", true), o.workers);
  m.finishes = make_finding("finish over a remote task", "finish", rounds,
                            variants("apgas finish/async_at", true), o.workers);
  m.phases = make_finding("phase of a clock, a task at each of two places", "phase", rounds,
                          variants("apgas clock", true), o.workers);
  std::vector<std::string> one_way = {"apgas async_at"};
  if (others.ring.there()) one_way.emplace_back("ring");
  m.tasks =
      make_finding("one finish over remote tasks of 8 B", "task", o.tasks, one_way, o.workers);
  return m;
}

// One round of each peer.
void run_peers(const options& o, const peers& others, measured& m, bool counts) {
  const auto all = exchanges(o.quick);
  // All findings about 8 bytes have the same peers.
  const auto keep_trip = [&](std::size_t i, const char* peer, const bench::sample& s) {
    keep(m.trips[i], peer, s, counts);
    if (i != 0) return;
    for (bench::finding* const f : {&m.futures, &m.lone, &m.finishes, &m.phases}) {
      keep(*f, peer, s, counts);
    }
  };
  for (std::size_t i = 0; others.mpi.measures() && i < all.size(); ++i) {
    keep_trip(i, "MPI", {others.mpi.ping_pong(all[i].bytes, all[i].rounds), true});
  }
  for (std::size_t i = 0; others.ucx.there() && i < all.size(); ++i) {
    const auto& [name, bytes, rounds] = all[i];
    keep_trip(i, "UCX", {others.ucx.ping_pong(bytes, rounds), true});
    keep_trip(i, "UCX echo", {others.ucx.ping_pong(bytes, rounds, true), true});
  }
  for (std::size_t i = 0; others.ring.there() && i < all.size(); ++i) {
    if (!all[i].fits_ring()) break;
    keep_trip(i, "ring", others.ring.ping_pong(all[i].bytes, all[i].rounds));
  }
  if (others.ring.there()) keep(m.tasks, "ring", others.ring.one_way(o.tasks), counts);
  others.mpi.sleep_until_all_call();
}

// One repetition, called by all processes of the job. Returns the exit code of apgas::run.
int run_once(int argc, char** argv, const options& o, const peers& others, measured& m,
             bool counts) {
  run_peers(o, others, m, counts);
  apgas::config settings;
  settings.workers = o.workers;
  return apgas::run(argc, argv, settings, [&] {
    const auto all = exchanges(o.quick);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& [name, bytes, rounds] = all[i];
      const auto keep_trip = [&](const char* variant, const bench::sample& s) {
        keep(m.trips[i], variant, s, counts);
      };
      keep_trip("apgas at", bench::at_round_trips(bytes, rounds));
      if (!all[i].is_long()) continue;
      keep_trip(long_variants[0], bench::uninitialized_round_trips(bytes, rounds));
      keep_trip(long_variants[1], bench::at_into_round_trips(bytes, rounds));
      keep_trip(long_variants[2], bench::at_into_exchanges(bytes, rounds));
    }
    const int rounds = all[0].rounds;
    keep(m.futures, "apgas async_future_at", bench::future_round_trips(rounds), counts);
    keep(m.lone, "apgas async_at", bench::lone_async_trips(rounds, m.lone_waited), counts);
    keep(m.finishes, "apgas finish/async_at", bench::remote_finishes(rounds), counts);
    keep(m.phases, "apgas clock", bench::phases_over(2, rounds), counts);
    m.last = bench::one_way_tasks(o.tasks);
    keep(m.tasks, "apgas async_at", m.last.time, counts);
    if (!counts) m.idle = bench::idle_share(o.idle_seconds, !others.mpi.there());
    m.transport = apgas::remote::report_here().transport;
    m.places = apgas::num_places();
  });
}

bench::demand over(const std::string& what, const bench::result& ours, const bench::result& theirs,
                   double bar) {
  return {what, ours.least() / theirs.least(), bar, true, "x", ours.median() / theirs.median()};
}

void add_demands_over_ring(std::vector<bench::demand>& all, const measured& m) {
  const struct {
    const char* what;
    const bench::finding& f;
    double bar;
  } short_messages[] = {{"at, 8 B", m.trips[0], 2.3},
                        {"finish over a remote task", m.finishes, 4},
                        {"phase of a clock", m.phases, 4},
                        {"single async_at there and back", m.lone, 2.5}};
  for (const auto& [what, f, bar] : short_messages) {
    const bench::result* const ring = f.find("ring", 1);
    if (ring == nullptr) continue;
    all.push_back(over(fmt::format("{}, over the ring", what), f.results[0], *ring, bar));
  }
}

// The bar is lower where the ring is slow.
bench::demand demand_of_rate(const bench::finding& f) {
  const auto millions = [&](double seconds) { return f.what.operations / seconds / 1e6; };
  const bench::result& ours = f.results[0];
  const bench::result* const ring = f.find("ring", 1);
  double bar = 40;
  if (ring != nullptr) bar = std::min(bar, 0.4 * millions(ring->least()));
  return {"async_at of 8 B, per second", millions(ours.least()), bar, false, "M",
          millions(ours.median())};
}

std::vector<bench::demand> demands_of(const measured& m, bool with_mpi, bool with_ucx) {
  std::vector<bench::demand> all;
  for (const bench::finding& f : m.trips) {
    if (!with_mpi) break;
    constexpr double over_ucx[] = {1.2, 1.3, 1.25, 1.25};
    const double bar = with_ucx ? over_ucx[&f - m.trips.data()] : 3;
    for (const bench::result& ours : f.results) {
      if (is_peer(ours.of.name)) continue;
      for (const char* const peer : {with_ucx ? "UCX" : "MPI", "UCX echo"}) {
        const bench::result* const theirs = f.find(peer, 1);
        const bool alike = ours.of.name != own_bytes || peer != std::string("UCX echo");
        if (theirs == nullptr || !alike) continue;
        all.push_back(over(fmt::format("{} over {}, {}", ours.of.name.substr(6), peer, f.what.name),
                           ours, *theirs, bar));
      }
    }
  }
  add_demands_over_ring(all, m);
  const auto microseconds = [&](double seconds) {
    return seconds / m.futures.what.operations * 1e6;
  };
  const bench::result& future = m.futures.results[0];
  const bench::result& at = m.trips[0].results[0];
  all.push_back({"async_future_at less at, 8 B", microseconds(future.least() - at.least()), 0.1,
                 true, "us", microseconds(future.median() - at.median())});
  if (m.places > 1) all.push_back(demand_of_rate(m.tasks));
  all.push_back({"an idle place, share of a core", m.idle * 100, with_mpi ? 10. : 2., true, "%"});
  return all;
}

// With MPI, the other place counts among the other programs that use the machine.
int end(bench::run_report& report, const options& o, const measured& m, bool with_mpi,
        bool with_ucx) {
  for (const bench::finding& f : m.trips) report.add(f);
  report.add(m.futures);
  report.add(m.lone);
  report.add(m.finishes);
  report.add(m.phases);
  report.add(m.tasks);
  fmt::print("\n{} of the messages of {} single async_at there and back waited for others\n",
             m.lone_waited, m.lone.what.operations);
  fmt::print(
      "finish over {} remote tasks: {} frames in {} messages, {} frames of the finish protocol\n",
      o.tasks, m.last.frames, m.last.messages, m.last.finish_messages);
  report.note("workers", o.workers);
  report.note("places", m.places);
  report.note("transport", m.transport);
  report.note("frames_of_a_finish", m.last.frames);
  report.note("messages_of_a_finish", m.last.messages);
  report.note("finish_messages_of_a_finish", m.last.finish_messages);
  return report.end(demands_of(m, with_mpi, with_ucx));
}

int run_all(int argc, char** argv, const options& o) {
  const peers others(argc, argv);
  const bench::raw_mpi& mpi = others.mpi;
  measured m = empty_findings(o, others);
  bench::run_report report("place_bench", o);
  for (int i = -1; i < o.rounds(); ++i) {
    if (const int code = run_once(argc, argv, o, others, m, i >= 0); code != 0) return code;
  }
  if (mpi.there() && !mpi.first()) return 0;
  return end(report, o, m, mpi.measures(), others.ucx.there());
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Messages between two places, beside plain MPI, UCX and rings in shared memory");
  bench::add_options(app, o);
  app.add_option("--workers", o.workers, "number of workers of each place")
      ->check(CLI::Range(1, bench::most_workers));
  app.add_option("--tasks", o.tasks, "number of remote tasks of one finish")
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--idle", o.idle_seconds, "seconds to idle")->check(CLI::Range(0.1, 3600.));
  CLI11_PARSE(app, argc, argv);
  if (o.quick) {
    o.tasks = 1'000;
    o.idle_seconds = 0.1;
  }
  return run_all(argc, argv, o);
}
