// SPDX-License-Identifier: Apache-2.0

// The bandwidth between places: at the same time, each place copies an array into memory of the
// next place, and back. Within a place, the triad of STREAM in several forms (triad.hpp).

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "stream/copies.hpp"
#include "stream/triad.hpp"
#include "support/command_line.hpp"
#include "support/loop_form.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using stream::are_words_of;
using stream::word;
using block = apgas::global_ptr<word>;

struct plan {
  std::int64_t words;
  int rounds;
  bool by_pieces;  // sixteen calls of async_copy instead of one copy
};

// Calls move(first, count) once, or for each of sixteen pieces in a finish.
template <class F>
void in_pieces(const plan& p, F move) {
  const std::int64_t piece = std::max<std::int64_t>(1, (p.words + 15) / 16);
  for (std::int64_t i = 0; i < p.words; i += piece) move(i, std::min(piece, p.words - i));
}

void send(const plan& p, std::span<const word> from, block to) {
  if (!p.by_pieces) return apgas::copy(from, to);
  apgas::finish([&] {
    in_pieces(p, [&](std::int64_t first, std::int64_t count) {
      apgas::async_copy(
          from.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
          to + first);
    });
  });
}

void fetch(const plan& p, block from, std::span<word> to) {
  if (!p.by_pieces) return apgas::copy(from, to);
  apgas::finish([&] {
    in_pieces(p, [&](std::int64_t first, std::int64_t count) {
      apgas::async_copy(from + first, to.subspan(static_cast<std::size_t>(first),
                                                 static_cast<std::size_t>(count)));
    });
  });
}

struct outcome {
  double sending = 0;  // in seconds
  double fetching = 0;
  bool verified = true;
};

// The slower of two places, since they copy at the same time.
constexpr auto slower = [](const outcome& a, const outcome& b) {
  return outcome{std::max(a.sending, b.sending), std::max(a.fetching, b.fetching),
                 a.verified && b.verified};
};

outcome measure_from_here(const plan& p) {
  const int here = apgas::here().id();
  const apgas::place next((here + 1) % apgas::num_places());
  const block there = apgas::allocate<word>(next, static_cast<std::size_t>(p.words));
  std::vector<word> back(static_cast<std::size_t>(p.words));
  outcome result;
  for (int round = 0; round < p.rounds; ++round) {
    const std::vector<word> mine = stream::words_of(here, round, p.words);
    const apps::stopwatch sending;
    send(p, mine, there);
    result.sending += sending.seconds();
    // The other place computes by itself what it should have received.
    result.verified = result.verified && apgas::at(next, [p, there, here, round] {
                        const std::span found(there.local(), static_cast<std::size_t>(p.words));
                        return are_words_of(here, round, p.words, found);
                      });
    std::ranges::fill(back, word{0});
    const apps::stopwatch fetching;
    fetch(p, there, back);
    result.fetching += fetching.seconds();
    result.verified = result.verified && are_words_of(here, round, p.words, back);
  }
  apgas::deallocate(there);
  return result;
}

struct options {
  std::int64_t words = 1 << 17;
  int rounds = 10;
  std::string variant = "copy";
};

int copy_and_report(const options& o) {
  const plan p{o.words, o.rounds, o.variant == "pieces"};
  const outcome all = apgas::finish_reduce(outcome(), slower, [p] {
    for (const apgas::place q : apgas::places()) {
      apgas::async_at(q, [p] { apgas::offer(measure_from_here(p)); });
    }
  });
  const double bytes = 8.0 * static_cast<double>(o.words) * o.rounds * apgas::num_places();
  return apps::report("stream", all.sending + all.fetching, all.verified,
                      {{"variant", o.variant},
                       {"words", o.words},
                       {"rounds", o.rounds},
                       {"gigabytes_per_second_there", bytes / all.sending / 1e9},
                       {"gigabytes_per_second_back", bytes / all.fetching / 1e9}});
}

int triad_and_report(const options& o, apps::loop_form& form) {
  const stream::triad_outcome t = stream::compute_triad(form, o.words, o.rounds);
  const double bytes = 24.0 * static_cast<double>(o.words) * o.rounds;
  return apps::report("stream", t.seconds, t.wrong == 0,
                      {{"variant", o.variant},
                       {"words", o.words},
                       {"rounds", o.rounds},
                       {"wrong", t.wrong},
                       {"gigabytes_per_second", bytes / t.seconds / 1e9}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("stream", "Copies arrays between places; or a triad within a place.");
  line.option("-n,--words", o.words, 1, std::int64_t{1} << 40, "words of 8 bytes of each array");
  line.option("--rounds", o.rounds, 1, 1'000'000, "number of copies there and back, or of triads");
  apps::loop_form::declare(
      line, o.variant, {"copy", "pieces"},
      "one copy, or sixteen pieces that a finish waits for; or the form of a triad's loop");
  if (const auto code = line.parse(argc, argv)) return *code;
  apps::loop_form form(o.variant);
  const bool copies = o.variant == "copy" || o.variant == "pieces";
  return apgas::run(argc, argv, [&] {
    // Three arrays of a triad; or at each place the words to send, those that came and those that
    // were fetched back, and the words that one of them is compared with.
    const double arrays = copies ? 4.0 * apps::placement_of_job().on_host : 3.0;
    const double bytes = arrays * sizeof(word) * static_cast<double>(o.words);
    if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
      return line.refuse("--words: " + problem + "; choose fewer");
    }
    return copies ? copy_and_report(o) : triad_and_report(o, form);
  });
}
