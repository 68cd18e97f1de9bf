// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/place_waits.hpp>
#include <apgas/scheduler/wait_edges.hpp>

// Makes one report of what the places of a job say: the groups of waiting tasks of all places and
// which tasks each group awaits, tasks that wait for each other, team members that have not come,
// and what workers run.
namespace apgas::inline v0::scheduler {

class joined_graph;

class job_report {
 public:
  // `places` is the number of places of the job. The text names places if there are several.
  explicit job_report(int places) noexcept : places_(places) {}

  // Adds what a place has answered. Throws: std::bad_alloc.
  void add(place_waits waits) { answers_.push_back(std::move(waits)); }
  // Says that a place has not answered for so many seconds.
  void add_missing(int place, double seconds) { missing_.push_back({place, seconds}); }

  std::uint64_t tasks() const noexcept;
  // Tasks of all places that wait in the same construct at the same line, and share spawn site and
  // name.
  struct group {
    place_waits::group waits;
    std::vector<int> places;
    std::string awaits;  // what they wait for and which tasks should act, if it is known
  };
  // Returns the groups that the places have sent, the largest first. Throws: std::bad_alloc.
  std::vector<group> groups() const;

  // Returns the lines of the report; the first one begins with `begin`, which is followed by "5
  // tasks wait: ...", with the largest twenty groups. Throws: std::bad_alloc.
  // Cost: n log n in the number of entries that the places have sent.
  std::string text(const std::string& begin) const;
  // Returns the edges of the wait-for graph, at most `most` of each construct. For answers of
  // graph_purpose::edges all of them are known. Throws: std::bad_alloc. Cost: as text().
  wait_edges edges(std::size_t most) const;
  // Returns at most `most` of these of each construct as the lines of a report, which also has what
  // workers run and which places have not answered. Throws: std::bad_alloc.
  std::string edges_text(const wait_edges& edges, std::size_t most) const;

  // Returns what its reader should look at first if it is a deadlock (remedy.hpp).
  // Throws: std::bad_alloc. Cost: as text().
  std::string_view remedy() const;

  // Tasks that wait for each other although others run. `is_certain`: no other task can let them go
  // on; else one can, if it unlocks what one of them has locked.
  struct endless_wait {
    std::string text;  // lines of a report
    bool is_certain;
  };
  // Searches the answers of place_watch::explain_long_waits() for such tasks. Requires: there is an
  // answer of each place, and all tasks in them waited at one moment. Throws: std::bad_alloc.
  std::optional<endless_wait> find_endless_wait() const;

 private:
  struct missing_place {
    int place;
    double seconds;
  };

  std::vector<group> groups(const joined_graph& graph, std::size_t most) const;
  std::string places_lines() const;
  std::string groups_text(const joined_graph& graph) const;
  // A line about a cycle; empty if there is none.
  struct cycle_line {
    std::string text;
    cycle_kind kind = cycle_kind::none;
  };
  cycle_line cycle(const joined_graph& graph) const;

  const int places_;
  std::vector<place_waits> answers_;
  std::vector<missing_place> missing_;
};

// "1 task waits", "5 tasks wait" or "no task waits".
std::string tasks_wait(std::uint64_t n);
// "place 3" or "places 0, 2 to 5 and 7". Requires: at least one; ascending.
std::string places_text(const std::vector<int>& places);

}  // namespace apgas::inline v0::scheduler
