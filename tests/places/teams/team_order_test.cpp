// SPDX-License-Identifier: Apache-2.0
// Members call the collectives of several teams in different orders and wait for each other. One
// line says where (APGAS_TEAM_WARNING=1). Nothing breaks, because another task may still make the
// missing call; in these tests one does, after the line was printed.
#include <array>
#include <chrono>
#include <cstddef>
#include <source_location>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.hpp"

namespace {

using apgas::place;
using apgas::place_group;
using apgas::team;
using namespace std::chrono_literals;

using where = std::source_location;

// The source locations of calls of the first team, and of calls of the others.
where in_first() { return where::current(); }
where in_others() { return where::current(); }

constexpr std::size_t none = 99;

// What this process writes to standard error, which can be read meanwhile.
class captured_errors {
 public:
  captured_errors() {
    // Otherwise lines that two places write at the same moment could overwrite each other.
    fcntl(file_, F_SETFL, O_APPEND);
    dup2(file_, STDERR_FILENO);
  }
  ~captured_errors() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(file_);
  }
  captured_errors(const captured_errors&) = delete;
  captured_errors& operator=(const captured_errors&) = delete;

  std::string text() const {
    std::string all;
    std::array<char, 4096> part{};
    for (;;) {
      const ssize_t n = pread(file_, part.data(), part.size(), static_cast<off_t>(all.size()));
      if (n <= 0) return all;
      all.append(part.data(), static_cast<std::size_t>(n));
    }
  }

 private:
  int file_ = memfd_create("standard error", MFD_CLOEXEC);
  int before_ = dup(STDERR_FILENO);
};

enum class expected { line, line_of_place_0, nothing };

// At each place a task calls a collective of team first[place], or none; 2.5 s later, or when the
// expected line has come, other tasks make the calls of the other teams. Returns what place 0 wrote
// to standard error meanwhile; with all places in one process, what all places wrote.
std::string said(const std::vector<place_group>& groups, const std::vector<std::size_t>& first,
                 expected what = expected::line) {
  std::vector<team> teams;
  teams.reserve(groups.size());
  for (const place_group& g : groups) teams.emplace_back(g);
  const auto calls = [&](bool now) {
    for (std::size_t k = 0; k < groups.size(); ++k) {
      for (const place p : groups[k]) {
        if (now != (first[static_cast<std::size_t>(p.id())] == k)) continue;
        apgas::async_at(
            p, [k](const team& t) { t.barrier(k == 0 ? in_first() : in_others()); }, teams[k]);
      }
    }
  };
  const captured_errors errors;
  const char* const wanted =
      what == expected::line_of_place_0 ? "place 0 has been in barrier" : "of another team";
  const auto has_come = [&] { return errors.text().find(wanted) != std::string::npos; };
  apgas::finish([&] {
    const auto latest = std::chrono::steady_clock::now() + 60s;
    calls(true);
    apgas::sleep_for(2500ms);
    while (what != expected::nothing && !has_come() && std::chrono::steady_clock::now() < latest) {
      apgas::sleep_for(100ms);
    }
    calls(false);
  });
  std::string text = errors.text();
  apgas::finish([&] {
    for (std::size_t k = 0; k < groups.size(); ++k) {
      apgas::async_at(groups[k], [](const team& t) { t.destroy(); }, teams[k]);
    }
  });
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::string text_of(const where& site) {
  return "team_order_test.cpp:" + std::to_string(site.line());
}

void expect_one_line(const std::string& text) {
  EXPECT_EQ(count(text, "of another team"), 1U) << text;
  EXPECT_EQ(count(text, text_of(in_first())), 1U) << text;
  EXPECT_EQ(count(text, text_of(in_others())), 1U) << text;
}

place_group group_of(std::vector<int> ids) {
  std::vector<place> all;
  for (const int id : ids) all.emplace_back(id);
  return place_group(all);
}

TEST(team_order, one_place_calls_another_team_first) {
  if (apgas::num_places() < 2) return;
  const place_group all(apgas::places());
  std::vector<std::size_t> first(static_cast<std::size_t>(apgas::num_places()), 1);
  first[0] = 0;
  expect_one_line(said({all, all}, first));
}

TEST(team_order, half_of_the_places_call_another_team_first) {
  if (apgas::num_places() < 4) return;
  const place_group all(apgas::places());
  std::vector<std::size_t> first(static_cast<std::size_t>(apgas::num_places()), 1);
  first[0] = first[1] = 0;
  expect_one_line(said({all, all}, first));
}

// Only places 0 and 2 are in both teams; the places between them only pass on which calls are held
// up.
TEST(team_order, groups_overlap) {
  if (apgas::num_places() < 4) return;
  expect_one_line(said({group_of({0, 1, 2}), group_of({0, 2, 3})}, {0, 0, 1, 1}));
}

TEST(team_order, three_teams_form_a_ring) {
  if (apgas::num_places() < 4) return;
  const std::string text = said({group_of({0, 1}), group_of({1, 2}), group_of({2, 0})},
                                {0, 1, 2, none}, expected::line_of_place_0);
  EXPECT_EQ(count(text, "place 0 has been in barrier"), 1U) << text;
}

// Waiting for a slow place prints no warning.
TEST(team_order, a_place_is_slow) {
  if (apgas::num_places() < 2) return;
  const place_group all(apgas::places());
  std::vector<std::size_t> first(static_cast<std::size_t>(apgas::num_places()), 0);
  first.back() = none;
  EXPECT_EQ(said({all, all}, first, expected::nothing), "");
}

// Each place waits for the next one, in overlapping teams, and the last one for a slow place.
TEST(team_order, a_chain_is_not_a_ring) {
  if (apgas::num_places() < 4) return;
  EXPECT_EQ(said({group_of({0, 1}), group_of({1, 2}), group_of({2, 3})}, {0, 1, 2, none},
                 expected::nothing),
            "");
}

}  // namespace
