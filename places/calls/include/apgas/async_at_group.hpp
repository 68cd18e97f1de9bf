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

// A task at each place of a group, along a tree.
namespace apgas::inline v0 {

namespace remote {

// Sends a task to each of `rest`: the second part to its first place, which serves the others of
// it, and so on with the first part. Parts are hosts, then halves.
// Context: task.
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

// Spawns f(args...) as a task at each place of the group: async_at(places(), f, args...). The
// innermost enclosing finish waits for all of them. Each place that was reached sends on before it
// runs its own.
//
// Throws: as async_at of one place. Context: task; not inside an atomic section. May suspend.
// Cost: a frame to each place of the group; each host is entered by one, where its places follow
// each other in the group. On one host at most log2(size) + 1 go one after the other, and each
// place sends that many at most; with hosts of any size some more.
template <class F, class... Args>
  requires(!sync::registration_clause<F>)
void async_at(sync::spawn_from<place_group> group, F&& f, Args&&... args) {
  static_assert(comm::require_sendable_closure<std::decay_t<F>>());
  sync::suspendable_fiber("async_at");
  remote::spread<std::decay_t<F>, std::decay_t<Args>...>(std::move(group.value), group.site, f,
                                                         args...);
}

}  // namespace apgas::inline v0
