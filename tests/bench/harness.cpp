// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <thread>

#include "harness.hpp"
#include "machine.hpp"

namespace bench {
namespace {

// By then, idle threads of the previous variant are asleep. Threads of an OpenMP team, for example,
// spin for some milliseconds.
constexpr auto flush_arrivals = std::chrono::milliseconds{10};

bool cpu_clock = false;
std::vector<int> counts_of_workers = {1, 2};

void keep(result& r, const sample& s, bool counts) {
  if (counts) r.seconds.push_back(s.seconds);
  r.correct = r.correct && s.correct;
}

void run_round(finding& f, bool counts, const apgas_runner& run_apgas) {
  for (result& r : f.results) {
    if (r.of.is == role::ours) continue;
    std::this_thread::sleep_for(flush_arrivals);
    keep(r, r.of.run(), counts);
  }
  for (const int workers : worker_counts()) {
    const auto is_ours = [workers](const result& r) {
      return r.of.is == role::ours && r.of.workers == workers;
    };
    if (std::ranges::none_of(f.results, is_ours)) continue;
    std::this_thread::sleep_for(flush_arrivals);
    run_apgas(workers, [&] {
      for (result& r : f.results) {
        if (is_ours(r)) keep(r, r.of.run(), counts);
      }
    });
  }
}

}  // namespace

double now() {
  if (cpu_clock) return process_cpu_seconds();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void use_cpu_clock() { cpu_clock = true; }

const std::vector<int>& worker_counts() { return counts_of_workers; }
void set_worker_counts(std::vector<int> counts) { counts_of_workers = std::move(counts); }
bool is_worker_count(int workers) {
  return std::ranges::find(counts_of_workers, workers) != counts_of_workers.end();
}

double result::least() const { return *std::ranges::min_element(seconds); }

double result::median() const {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

bool finding::correct() const {
  return std::ranges::all_of(results, [](const result& r) { return r.correct; });
}

double finding::best_serial() const {
  double best = 0;
  for (const result& r : results) {
    if (r.of.is == role::serial && (best == 0 || r.least() < best)) best = r.least();
  }
  return best;
}

const result* finding::find(const std::string& variant_name, int workers) const {
  for (const result& r : results) {
    if (r.of.name == variant_name && r.of.workers == workers) return &r;
  }
  return nullptr;
}

finding measure(const benchmark& what, int repetitions, const apgas_runner& run_apgas) {
  finding f{what, {}};
  for (const variant& v : what.variants) {
    if (v.workers == 1 || !cpu_clock) f.results.push_back({v, {}, true});
  }
  for (int i = -1; i < repetitions; ++i) run_round(f, i >= 0, run_apgas);
  return f;
}

}  // namespace bench
