// SPDX-License-Identifier: Apache-2.0
#include <apgas/place.hpp>

#include <ostream>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/task.hpp>

namespace apgas::inline v0 {
namespace {

const sync::place_state& state(const char* operation) {
  return sync::place_of(sync::task_fiber(operation));
}

// A function of its own, so that the constructor of a place needs no frame: programs construct one
// for each of many short tasks.
[[noreturn, gnu::noinline, gnu::cold]] void refuse(int id, int n) {
  throw bad_place(
      fmt::format("place {} was asked for, but the program runs with {} {}, numbered from 0; start "
                  "it with more (APGAS_PLACES or apgas-run -n), or ask apgas::num_places()",
                  id, n, n == 1 ? "place" : "places"));
}

}  // namespace

place::place(int id) : id_(id) {
  if (id == 0) return;
  const int n = state("the constructor of place").places;
  if (id < 0 || id >= n) [[unlikely]]
    refuse(id, n);
}

std::string place::host() const { return state("place::host").endpoint->host(id_); }

bool place::same_node(place other) const {
  return state("place::same_node").endpoint->same_node(id_, other.id_);
}

std::ostream& operator<<(std::ostream& out, place p) { return out << "place(" << p.id() << ")"; }

place here() { return {place::trusted{}, state("here").here}; }

int num_places() { return state("num_places").places; }

int num_workers() { return state("num_workers").task_scheduler->num_workers(); }

int worker_id() { return sync::task_fiber("worker_id").on->id; }

place_range places() { return place_range(num_places()); }

}  // namespace apgas::inline v0
