// SPDX-License-Identifier: Apache-2.0

// What accesses to the memory of another place cost, beside plain UCX in the same job:
//
//   mpirun -n 2 rma_bench                                    with the transport shm
//   APGAS_TRANSPORT=mpi mpirun -n 2 rma_bench                by messages, no peer
//   APGAS_TRANSPORT=ucx UCX_TLS=tcp,self mpirun -n 2 rma_bench    no directly accessible memory,
//                                                            as between hosts
//   APGAS_TRANSPORT=local APGAS_PLACES=2 rma_bench           two places in one process, no peer
//   APGAS_TRANSPORT=local APGAS_PLACES=1 rma_bench           a place and its own memory, no peer
//
// A repetition consists of a round of plain UCX by the main threads, and then an apgas::run that
// does the same. Each place has one worker. Place 0 accesses the memory of place 1; others have
// nothing to do, and their main threads sleep while UCX runs. Each access is complete before the
// next begins, except for those that a finish counts. For comparison, the same bytes are also moved
// by `at`, there as its argument and back as its result. No access should take longer than that.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <apgas/apgas.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/places/place_report.hpp>

#include "options.hpp"
#include "raw_mpi.hpp"
#include "raw_ucx.hpp"
#include "report.hpp"

namespace {

using block = apgas::global_ptr<std::uint64_t>;

constexpr std::size_t mib = std::size_t{1} << 20;
static_assert(mib <= bench::raw_ucx::memory_bytes);

// An access to the allocation at the other place. UCX has no equivalent where `peer` is null.
struct access {
  const char* name;
  std::size_t bytes;
  int rounds;
  void (*ours)(block there, std::vector<std::uint64_t>& buffer, int rounds);
  double (bench::raw_ucx::*peer)(std::size_t, int) const;
  double bar;  // relative to the peer
};

void puts(block there, std::vector<std::uint64_t>&, int rounds) {
  for (int i = 1; i <= rounds; ++i) apgas::rput(static_cast<std::uint64_t>(i), there);
}
void gets(block there, std::vector<std::uint64_t>& buffer, int rounds) {
  for (int i = 0; i < rounds; ++i) buffer[0] += apgas::rget(there);
}
void copies_to(block there, std::vector<std::uint64_t>& buffer, int rounds) {
  for (int i = 0; i < rounds; ++i) apgas::copy(buffer, there);
}
void copies_from(block there, std::vector<std::uint64_t>& buffer, int rounds) {
  for (int i = 0; i < rounds; ++i) apgas::copy(there, buffer);
}
void additions(block there, std::vector<std::uint64_t>&, int rounds) {
  for (int i = 0; i < rounds; ++i) apgas::fetch_add(there, 1U);
}
void counted_puts(block there, std::vector<std::uint64_t>&, int rounds) {
  apgas::finish([=] {
    for (int i = 1; i <= rounds; ++i) apgas::async_rput(static_cast<std::uint64_t>(i), there);
  });
}
void counted_additions(block there, std::vector<std::uint64_t>&, int rounds) {
  apgas::finish([=] {
    for (int i = 0; i < rounds; ++i) apgas::async_add(there, 1U);
  });
}

// The same transfer by a task at the other place.
void at_puts(block there, std::vector<std::uint64_t>&, int rounds) {
  for (int i = 1; i <= rounds; ++i) {
    apgas::at(
        there.home(), [there](std::uint64_t x) { *there.local() = x; },
        static_cast<std::uint64_t>(i));
  }
}
void at_gets(block there, std::vector<std::uint64_t>& buffer, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    buffer[0] += apgas::at(there.home(), [there] { return *there.local(); });
  }
}
void at_copies_to(block there, std::vector<std::uint64_t>& buffer, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    apgas::at(
        there.home(),
        [there](const std::vector<std::uint64_t>& values) {
          std::ranges::copy(values, there.local());
        },
        buffer);
  }
}
void at_copies_from(block there, std::vector<std::uint64_t>& buffer, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const std::vector<std::uint64_t> values = apgas::at(there.home(), [there, n = buffer.size()] {
      return std::vector<std::uint64_t>(there.local(), there.local() + n);
    });
    std::ranges::copy(values, buffer.begin());
  }
}

std::vector<access> accesses(bool quick) {
  const int few = quick ? 10 : 200;
  const int many = quick ? 100 : 20'000;
  using bench::raw_ucx;
  // An access by `at` follows the access that it is compared with.
  return {{"rput, 8 B", 8, many, puts, &raw_ucx::put, 2},
          {"at instead of rput, 8 B", 8, many, at_puts, nullptr, 0},
          {"rget, 8 B", 8, many, gets, &raw_ucx::get, 2},
          {"at instead of rget, 8 B", 8, many, at_gets, nullptr, 0},
          {"copy there, 4 KiB", 4096, many, copies_to, nullptr, 0},
          {"at instead of copy there, 4 KiB", 4096, many, at_copies_to, nullptr, 0},
          {"copy from there, 4 KiB", 4096, many, copies_from, nullptr, 0},
          {"at instead of copy from there, 4 KiB", 4096, many, at_copies_from, nullptr, 0},
          {"copy there, 1 MiB", mib, few, copies_to, &raw_ucx::put, 1 / 0.9},
          {"at instead of copy there, 1 MiB", mib, few, at_copies_to, nullptr, 0},
          {"copy from there, 1 MiB", mib, few, copies_from, &raw_ucx::get, 1 / 0.9},
          {"at instead of copy from there, 1 MiB", mib, few, at_copies_from, nullptr, 0},
          {"fetch_add", 8, many, additions, nullptr, 0},
          {"async_rput, 8 B", 8, many, counted_puts, nullptr, 0},
          {"async_add", 8, many, counted_additions, nullptr, 0}};
}

bool by_at(const access& a) {
  return a.ours == at_puts || a.ours == at_gets || a.ours == at_copies_to ||
         a.ours == at_copies_from;
}

// Whether the memory has the expected value: puts of 1 to `rounds`, additions and copies all leave
// a known value.
bool left_behind(const access& a, block there, const std::vector<std::uint64_t>& buffer,
                 std::uint64_t before) {
  const std::uint64_t now = apgas::rget(there);
  const auto rounds = static_cast<std::uint64_t>(a.rounds);
  if (a.ours == puts || a.ours == counted_puts || a.ours == at_puts) return now == rounds;
  if (a.ours == additions || a.ours == counted_additions) return now == before + rounds;
  if (a.ours == gets || a.ours == at_gets) return buffer[0] == 1 + rounds * now;
  return buffer[0] == now;
}

bench::sample measure_ours(const access& a, block there) {
  std::vector<std::uint64_t> buffer(a.bytes / sizeof(std::uint64_t), 1);
  const std::uint64_t before = apgas::rget(there);
  const double begin = bench::now();
  a.ours(there, buffer, a.rounds);
  const double seconds = bench::now() - begin;
  return {seconds, left_behind(a, there, buffer, before)};
}

std::vector<bench::finding> empty_findings(const std::vector<access>& all, bool with_peer) {
  std::vector<bench::finding> findings;
  for (const access& a : all) {
    bench::finding f{{a.name, "access", static_cast<double>(a.rounds), 0, {}}, {}};
    f.results.push_back({{"apgas", bench::role::ours, 1, {}}, {}, true});
    if (with_peer && a.peer != nullptr) {
      f.results.push_back({{"UCX", bench::role::peer, 1, {}}, {}, true});
    }
    findings.push_back(f);
  }
  return findings;
}

void keep(bench::result& r, const bench::sample& s, bool counts) {
  if (counts) r.seconds.push_back(s.seconds);
  r.correct = r.correct && s.correct;
}

// Plain UCX is measured unless the library is told to use MPI.
bool measures_ucx() {
  const char* const transport = std::getenv("APGAS_TRANSPORT");
  return apgas::comm::ucx_available() && (transport == nullptr || transport != std::string("mpi"));
}

struct peers {
  peers(int argc, char** argv) : mpi(argc, argv), ucx(mpi.measures() && measures_ucx()) {}

  bench::raw_mpi mpi;
  bench::raw_ucx ucx;
};

// One repetition, called by all processes of the job. Returns the exit code of apgas::run.
int run_once(int argc, char** argv, const std::vector<access>& all, const peers& others,
             std::vector<bench::finding>& findings, std::string& transport, bool counts) {
  const bench::raw_ucx& ucx = others.ucx;
  for (std::size_t i = 0; ucx.there() && i < all.size(); ++i) {
    if (all[i].peer == nullptr) continue;
    keep(findings[i].results[1], {(ucx.*all[i].peer)(all[i].bytes, all[i].rounds), true}, counts);
  }
  others.mpi.sleep_until_all_call();
  apgas::config settings;
  settings.workers = 1;
  return apgas::run(argc, argv, settings, [&] {
    const apgas::place target(apgas::num_places() == 1 ? 0 : 1);
    const auto there = apgas::allocate<std::uint64_t>(target, mib / 8);
    for (std::size_t i = 0; i < all.size(); ++i) {
      keep(findings[i].results[0], measure_ours(all[i], there), counts);
    }
    apgas::deallocate(there);
    transport = apgas::remote::report_here().transport;
  });
}

std::vector<bench::demand> demands_of(const std::vector<access>& all,
                                      const std::vector<bench::finding>& findings) {
  std::vector<bench::demand> demands;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& results = findings[i].results;
    if (by_at(all[i])) {
      demands.push_back({fmt::format("{} over {}", all[i - 1].name, all[i].name),
                         findings[i - 1].results[0].least() / results[0].least(), 1, true, "x"});
    }
    if (results.size() < 2) continue;
    demands.push_back({fmt::format("{} over plain UCX", all[i].name),
                       results[0].least() / results[1].least(), all[i].bar, true, "x"});
  }
  return demands;
}

int run_all(int argc, char** argv, const bench::run_options& o) {
  const peers others(argc, argv);
  const std::vector<access> all = accesses(o.quick);
  std::vector<bench::finding> findings = empty_findings(all, others.ucx.there());
  bench::run_report report("rma_bench", o);
  std::string transport;
  for (int i = -1; i < o.rounds(); ++i) {
    const int code = run_once(argc, argv, all, others, findings, transport, i >= 0);
    if (code != 0) return code;
  }
  if (others.mpi.there() && !others.mpi.first()) return 0;
  for (const bench::finding& f : findings) report.add(f);
  report.note("transport", transport);
  return report.end(demands_of(all, findings));
}

}  // namespace

int main(int argc, char** argv) {
  bench::run_options o;
  o.repetitions = 15;
  CLI::App app("Memory of another place, beside plain UCX");
  bench::add_options(app, o);
  CLI11_PARSE(app, argc, argv);
  return run_all(argc, argv, o);
}
