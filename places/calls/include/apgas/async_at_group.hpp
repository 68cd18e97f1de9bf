// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <source_location>
#include <type_traits>
#include <utility>

#include <apgas/at.hpp>
#include <apgas/place_group.hpp>
#include <apgas/places/division.hpp>
#include <apgas/sync/spawn_from.hpp>

// async_at with a group of places instead of one place.
namespace apgas::inline v0 {

namespace remote {

// Spawns a task at each place of `rest`. The group is divided in two (division.hpp). The first
// place of the second half gets a task that first does the same for the remaining places of that
// half; the loop goes on with the first half.
template <class F, class... Args>
void spread(place_group rest, std::source_location site, const F& f, const Args&... args) {
  while (!rest.empty()) {
    const auto second =
        std::next(rest.begin(), static_cast<std::ptrdiff_t>(division_by_hosts(rest)));
    async_at(
        sync::spawn_from<place>(*second, site),
        [](place_group& below, F& body, Args&... values) {
          spread(std::move(below), scheduler::current_fiber()->task.site, body, values...);
          if constexpr (std::is_invocable_v<F&, Args&&...>) {
            std::invoke(body, std::move(values)...);
          } else {
            std::invoke(body, values...);
          }
        },
        place_group(std::next(second), rest.end()), f, args...);
    rest = place_group(rest.begin(), second);
  }
}

}  // namespace remote

// Spawns f(args...) as a task at each place of the group, and returns when the tasks are on their
// way. The innermost enclosing finish waits for all of them. `f` and `args` must be sendable
// (at.hpp); each task gets its own copies.
//
//   apgas::finish([] { apgas::async_at(apgas::places(), [] { read_table(); }); });
//
// The tasks are sent along a tree: each place forwards them to the places below it before it runs
// its own f.
//
// Throws: what async_at to one place throws. What f throws goes to the finish.
// Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: one frame for each place of the group. If the places of each host follow each other in the
// group, only one frame is sent to each other host. Within a host the tree has at most log2(size) +
// 1 levels and each place sends at most that many frames; over hosts of different sizes the tree
// can be a little deeper.
template <class F, class... Args>
  requires(!sync::registration_clause<F>)
void async_at(sync::spawn_from<place_group> group, F&& f, Args&&... args) {
  static_assert(comm::require_sendable_closure<std::decay_t<F>>());
  sync::suspendable_fiber("async_at");
  remote::spread<std::decay_t<F>, std::decay_t<Args>...>(std::move(group.value), group.site, f,
                                                         args...);
}

}  // namespace apgas::inline v0
