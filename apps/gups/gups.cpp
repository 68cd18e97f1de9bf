// SPDX-License-Identifier: Apache-2.0

// Random access (GUPS, after the benchmark of HPC Challenge): a table that is divided among all
// places, and updates of random words of it, each of which may be anywhere.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using word = std::uint64_t;

// The parts of the table, one at each place.
using parts = std::vector<apgas::global_ptr<word>>;

enum class way : std::uint8_t { counted, awaited, task };

// Who makes which updates. Sent to all places.
struct plan {
  std::int64_t words_each;
  std::int64_t updates;  // of all places together
  int places;
  way how;

  [[nodiscard]] std::int64_t first_update(int place) const { return updates * place / places; }
};

// Update k: splitmix64 of k, which no place has to have followed from the beginning.
word random_word(std::int64_t k) {
  word z = (static_cast<word>(k) + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
std::int64_t target_of(const plan& p, word x) {
  return static_cast<std::int64_t>(x % static_cast<word>(p.words_each * p.places));
}

void update(const plan& p, const parts& table, std::int64_t k) {
  const word x = random_word(k);
  const std::int64_t at = target_of(p, x);
  const auto there = table[static_cast<std::size_t>(at / p.words_each)] + at % p.words_each;
  switch (p.how) {
    case way::counted:
      apgas::async_xor(there, x);
      break;
    case way::awaited:
      apgas::fetch_xor(there, x);
      break;
    case way::task:
      apgas::async_at(there.home(), [there, x] {
        std::atomic_ref(*there.local()).fetch_xor(x, std::memory_order_relaxed);
      });
      break;
  }
}

void update_from_everywhere(const plan& p, const parts& table) {
  apgas::finish([&] {
    for (const apgas::place q : apgas::places()) {
      apgas::async_at(
          q,
          [](const plan& all, const parts& words) {
            const int here = apgas::here().id();
            apgas::forall(all.first_update(here), all.first_update(here + 1),
                          [&](std::int64_t k) { update(all, words, k); });
          },
          p, table);
    }
  });
}

// The words of this place that are not what all updates, done here one after the other, make them.
std::int64_t wrong_words_here(const plan& p, const parts& table) {
  const int here = apgas::here().id();
  std::vector<word> expected(static_cast<std::size_t>(p.words_each));
  for (std::int64_t k = 0; k < p.updates; ++k) {
    const word x = random_word(k);
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
};

int update_and_report(const options& o) {
  const int places = apgas::num_places();
  const std::int64_t each = std::int64_t{1} << o.bits;
  const plan p{each, each * places * o.updates, places,
               o.variant == "counted"   ? way::counted
               : o.variant == "awaited" ? way::awaited
                                        : way::task};
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
  line.option("-n,--bits", o.bits, 1, 30, "each place has 2^n words of the table");
  line.option("--updates", o.updates, 0, 1000, "updates for each word");
  line.choice("--variant", o.variant, {"counted", "awaited", "task"},
              "async_xor, fetch_xor, or a task at the word's place");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&o] { return update_and_report(o); });
}
