// SPDX-License-Identifier: Apache-2.0

// Random access (GUPS, after the benchmark of HPC Challenge): a table that is distributed over all
// places, and updates of random words of it. Every update may go to any place.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/random_word.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using word = std::uint64_t;

// The portions of the table, one at each place.
using parts = std::vector<apgas::global_ptr<word>>;

enum class way : std::uint8_t { counted, awaited, task, batches };

// Defines the updates and the task that makes each of them. Sent to all places.
struct plan {
  std::int64_t words_each;
  std::int64_t updates;  // of all places together
  int places;
  way how;

  [[nodiscard]] std::int64_t first_update(int place) const { return updates * place / places; }
};

// The value and the location of update k.
word word_of(std::int64_t k) { return apps::random_word(static_cast<word>(k)); }
std::int64_t target_of(const plan& p, word x) {
  return static_cast<std::int64_t>(x % static_cast<word>(p.words_each * p.places));
}

void update(const plan& p, const parts& table, std::int64_t k) {
  const word x = word_of(k);
  const std::int64_t at = target_of(p, x);
  const auto there = table[static_cast<std::size_t>(at / p.words_each)] + at % p.words_each;
  switch (p.how) {
    case way::counted:
      apgas::async_xor(there, x);
      break;
    case way::awaited:
      apgas::fetch_xor(there, x);
      break;
    default:
      apgas::async_at(there.home(), [there, x] {
        std::atomic_ref(*there.local()).fetch_xor(x, std::memory_order_relaxed);
      });
      break;
  }
}

// A batch of updates of words at one place.
using batch = std::vector<word>;
constexpr std::size_t updates_of_a_batch = 1024;

void update_here(const plan& p, word* mine, const batch& all) {
  for (const word x : all) {
    std::atomic_ref(mine[target_of(p, x) % p.words_each]).fetch_xor(x, std::memory_order_relaxed);
  }
}

void send(const plan& p, const apgas::global_ptr<word>& there, const batch& all) {
  apgas::async_at(
      there.home(), [p, there](const batch& these) { update_here(p, there.local(), these); }, all);
}

// The updates of this place, which are collected into batches here.
void update_in_batches(const plan& p, const parts& table, std::int64_t first, std::int64_t last) {
  apgas::worker_local<std::vector<batch>> waiting(std::vector<batch>(table.size()));
  apgas::forall(first, last, [&](std::int64_t k) {
    const word x = word_of(k);
    const auto to = static_cast<std::size_t>(target_of(p, x) / p.words_each);
    batch& there = (*waiting)[to];
    there.push_back(x);
    if (there.size() == updates_of_a_batch) send(p, table[to], std::exchange(there, {}));
  });
  for (const auto& each : waiting) {
    for (std::size_t q = 0; q < each.size(); ++q) send(p, table[q], each[q]);
  }
}

void update_from_everywhere(const plan& p, const parts& table) {
  apgas::finish([&] {
    for (const apgas::place q : apgas::places()) {
      apgas::async_at(
          q,
          [](const plan& all, const parts& words) {
            const int here = apgas::here().id();
            const std::int64_t first = all.first_update(here);
            const std::int64_t last = all.first_update(here + 1);
            if (all.how == way::batches) return update_in_batches(all, words, first, last);
            apgas::forall(first, last, [&](std::int64_t k) { update(all, words, k); });
          },
          p, table);
    }
  });
}

// Counts the words of this place that differ from the result of performing all updates here, one
// after another.
std::int64_t wrong_words_here(const plan& p, const parts& table) {
  const int here = apgas::here().id();
  std::vector<word> expected(static_cast<std::size_t>(p.words_each));
  for (std::int64_t k = 0; k < p.updates; ++k) {
    const word x = word_of(k);
    const std::int64_t at = target_of(p, x) - here * p.words_each;
    if (0 <= at && at < p.words_each) expected[static_cast<std::size_t>(at)] ^= x;
  }
  const word* const found = table[static_cast<std::size_t>(here)].local();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += found[i] != expected[i] ? 1 : 0;
  return wrong;
}

struct options {
  int bits = 16;
  int updates = 4;
  std::string variant = "counted";

  [[nodiscard]] std::int64_t words_each() const { return std::int64_t{1} << bits; }
  // The memory that the places of the host of place 0 need together, in bytes: their portions of
  // the table, and the one that a place computes for the check, one place after another.
  [[nodiscard]] double bytes(const apps::placement& all) const {
    return sizeof(word) * static_cast<double>(words_each()) * (all.on_host + 1);
  }
};

int update_and_report(const options& o) {
  const int places = apgas::num_places();
  const std::int64_t each = o.words_each();
  const plan p{each, each * places * o.updates, places,
               o.variant == "counted"   ? way::counted
               : o.variant == "awaited" ? way::awaited
               : o.variant == "task"    ? way::task
                                        : way::batches};
  parts table;
  for (const apgas::place q : apgas::places()) {
    table.push_back(apgas::allocate<word>(q, static_cast<std::size_t>(each)));
  }
  const apps::stopwatch clock;
  update_from_everywhere(p, table);
  const double seconds = clock.seconds();
  std::int64_t wrong = 0;
  for (const apgas::place q : apgas::places()) {
    wrong += apgas::at(
        q, [](const plan& all, const parts& words) { return wrong_words_here(all, words); }, p,
        table);
  }
  return apps::report("gups", seconds, wrong == 0,
                      {{"variant", o.variant},
                       {"words", each * places},
                       {"updates", p.updates},
                       {"wrong", wrong},
                       {"gups", static_cast<double>(p.updates) / seconds / 1e9}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("gups", "Updates random words of a table over all places.");
  line.option("-n,--bits", o.bits, 1, 40, "each place has 2^n words of the table");
  line.option("--updates", o.updates, 0, 1000, "updates per word");
  line.choice("--variant", o.variant, {"counted", "awaited", "task", "batches"},
              "async_xor, fetch_xor, or a task at the word's place per update or per batch");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    const double bytes = o.bytes(apps::placement_of_job());
    if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
      return line.refuse("--bits: " + problem + "; choose fewer words or places");
    }
    return update_and_report(o);
  });
}
