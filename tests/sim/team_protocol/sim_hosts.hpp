// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes collectives of teams on several hosts that use bulletin boards within each run: phase by
// phase, each in random orders.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <apgas/places/between_runs.hpp>

#include "sim_board.hpp"
#include "sim_runs.hpp"
#include "sim_team.hpp"

namespace sim {

using apgas::remote::between_runs;
using apgas::remote::host_runs;

inline constexpr std::size_t most_members = 33;
inline constexpr std::size_t part = 3;  // elements of a post

// A phase that all members leave out.
enum class fault { none, no_boards_before, no_messages, no_boards_after, last };
inline const char* name(fault f) {
  constexpr const char* names[] = {"no fault", "no boards before the messages", "no messages",
                                   "no boards after the messages"};
  return names[static_cast<std::size_t>(f)];
}

inline host_runs random_hosts(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed + n);
  const std::uint64_t rarely = 1 + random() % 8;
  return host_runs(n, [&](auto...) { return random() % rarely != 0; });
}

inline span_of run_of(const host_runs& hosts, std::size_t member) {
  return hosts.run(hosts.index_of_run(member));
}

struct settings {
  host_runs hosts;
  std::size_t root;
  std::size_t elements;
  std::uint64_t seed;
  fault f = fault::none;

  std::size_t n() const { return hosts.members(); }
};

// The members of each run execute make(run, index in the run). Their posts come from `out`, and
// what they read goes to `in`, which may be the same object.
template <class Make>
std::string within_runs(const settings& s, fault left_out, team_words& out, team_words& in,
                        Make make) {
  if (s.f == left_out) return "";
  random_choice chooser(s.seed);
  for (std::size_t r = 0; r < s.hosts.count(); ++r) {
    const span_of run = s.hosts.run(r);
    if (run.size() == 1) continue;
    team_words outs(run.size(), {});
    team_words ins(run.size(), {});
    for (std::size_t i = 0; i < run.size(); ++i) {
      outs[i] = out[run.first + i];
      ins[i] = in[run.first + i];
    }
    auto schedules = schedules_of(run.size(), [&](std::size_t i) { return make(run, i); });
    std::string wrong =
        board_world(std::move(schedules), &out == &in ? ins : outs, ins).run(chooser);
    if (!wrong.empty()) return wrong;
    for (std::size_t i = 0; i < run.size(); ++i) in[run.first + i] = ins[i];
  }
  return "";
}

// The steps of make(member) that lead to other runs.
template <class Make>
auto crossing(const host_runs& hosts, Make make) {
  return schedules_of(hosts.members(),
                      [&](std::size_t i) { return between_runs(run_of(hosts, i), make(i)); });
}

template <class Data, class Make>
std::string by_messages(const settings& s, Data& words, Make make) {
  if (s.f == fault::no_messages) return "";
  random_choice chooser(s.seed);
  return team_world(crossing(s.hosts, make), words).run(chooser).wrong;
}

inline std::string word(std::size_t member, std::size_t element) {
  return "(" + std::to_string(member) + "." + std::to_string(element) + ")";
}
inline std::string all_words(std::size_t n, std::size_t element) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += word(i, element);
  return all;
}
inline team_words own_words(std::size_t n, std::size_t elements) {
  team_words words(n, std::vector<std::string>(elements));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t e = 0; e < elements; ++e) words[i][e] = word(i, e);
  }
  return words;
}

}  // namespace sim
