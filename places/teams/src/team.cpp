// SPDX-License-Identifier: Apache-2.0
#include <apgas/team.hpp>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include <apgas/async_at_group.hpp>
#include <apgas/at.hpp>
#include <apgas/errors.hpp>
#include <apgas/finish.hpp>
#include <apgas/places/remote_teams.hpp>

namespace apgas::inline v0 {

namespace remote {

team_member& member_of(const global_id& id, const char* operation) {
  scheduler::fiber& self = sync::suspendable_fiber(operation);
  if (id.generation == 0) throw_no_object(self, id, "team");
  team_member* const found = teams_of(self).find(id);
  if (found == nullptr) {
    throw illegal_operation(fmt::format(
        "{} was called at place {}, where the team has no member: it was destroyed, or the place "
        "is not in its group; call it only at members of the team, and before destroy()",
        operation, sync::place_of(self).here));
  }
  return *found;
}

void expect_size(const char* operation, const char* span, std::size_t found, std::size_t wanted) {
  if (found == wanted) return;
  throw illegal_operation(fmt::format("{}: the span `{}` has {} elements, but {} are needed",
                                      operation, span, found, wanted));
}

}  // namespace remote

team::team(const place_group& group) {
  scheduler::fiber& self = sync::suspendable_fiber("the constructor of team");
  if (group.empty()) {
    throw bad_place("a team needs at least one member, but the given place_group is empty");
  }
  const remote::global_id id = remote::global_table_of(self).reserve();
  finish([&] {
    async_at(
        group,
        [](const remote::global_id& name, const place_group& all) {
          remote::teams_of(*scheduler::current_fiber()).add(name, all);
        },
        id, group);
  });
  id_ = id;
}

std::size_t team::index() const { return member("team::index").index(); }
std::size_t team::size() const { return member("team::size").size(); }
place_group team::group() const { return member("team::group").group(); }

void team::barrier(source site) const {
  remote::collect(member("team::barrier"), {remote::collective::barrier, std::nullopt, 0, site},
                  [](remote::team_member& m, std::size_t) { remote::run_barrier(m); });
}

namespace {

// The contribution of each member to a split.
struct choice {
  std::int32_t color = 0;
  std::int32_t key = 0;
  remote::global_id name;  // that the new team gets if this member is its first
};
static_assert(sizeof(choice) == 24);

// The members with the color of member `me`, in the order that they have in the new team.
std::vector<std::size_t> same_color(std::span<const choice> all, std::size_t me) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].color == all[me].color) chosen.push_back(i);
  }
  std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return all[i].key; });
  return chosen;
}

}  // namespace

team team::split(int color, int key, source site) const {
  remote::global_table& names = remote::global_table_of(sync::suspendable_fiber("team::split"));
  remote::team_member& old = member("team::split");
  const choice mine{color, key, names.reserve()};
  team made;
  remote::collect(
      old, {remote::collective::split, std::nullopt, 0, site},
      [&](remote::team_member& m, std::size_t) {
        std::vector<choice> all(m.size());
        const auto bytes = std::as_writable_bytes(std::span(all));
        remote::run_gather(m, 0, std::as_bytes(std::span(&mine, 1)), bytes);
        remote::run_broadcast(m, 0, bytes);
        if (color < 0) return;
        const std::vector<std::size_t> chosen = same_color(all, m.index());
        std::vector<place> members;
        members.reserve(chosen.size());
        for (const std::size_t i : chosen) members.push_back(m.group()[i]);
        made.id_ = all[chosen.front()].name;
        remote::teams_of(*scheduler::current_fiber()).add(made.id_, place_group(members));
      });
  if (made.id_ != mine.name) names.give_back(mine.name);
  return made;
}

void team::destroy(source site) const {
  remote::team_member& m = member("team::destroy");
  if (id_.generation == remote::world_generation) {
    throw illegal_operation(
        "team::world() cannot be destroyed; it exists as long as the program runs");
  }
  const bool first = m.index() == 0;
  remote::collect(
      m, {remote::collective::destroy, std::nullopt, 0, site},
      [](remote::team_member& each, std::size_t) { remote::run_barrier_by_messages(each); });
  remote::teams_of(*scheduler::current_fiber()).remove(id_);
  if (!first) return;
  at(remote::trusted_place(id_.home), [id = id_] { remote::global_table_here().give_back(id); });
}

}  // namespace apgas::inline v0
