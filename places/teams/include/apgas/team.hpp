// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>
#include <apgas/place_group.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/places/team_collectives.hpp>
#include <apgas/places/team_values.hpp>

// Places that call collectives together.
namespace apgas::inline v0 {

// A handle: trivially copyable, 16 bytes; copying registers nothing. At each member one task calls
// a collective, and all members make the same calls in the same order:
//
//   auto t = team::world();
//   finish([t] {
//     for (place p : places()) {
//       async_at(p, [t] {
//         const double all = t.allreduce(work(), std::plus<>());
//         t.barrier();
//       });
//     }
//   });
//
// A call suspends its task alone. Who takes part in a collective with data gives the same root and
// the same number of elements of the same type.
//
// Values of single T are whatever can be sent, where nothing else is said; elements of spans, and
// what is reduced, must be trivially copyable without pointers. A span is passed as such,
// t.broadcast(std::span(v), root), since a vector by itself is a value.
//
// An operation of a reduction must be associative; it is applied in the order of the members, by
// the tasks that wait, and all members of an allreduce get the same bits.
//
// Where members call in different order, or an exception leaves a call at one of them, the team
// breaks: every call of it that waits, and every later one, throws illegal_operation with what was
// called where, at all members. So nobody waits for who will not come.
//
// All calls throw illegal_operation also for an empty handle, after destroy(), at a place that is
// no member, and outside a task. Context of all: task, not inside an atomic section; may suspend.
class team {
 public:
  using source = std::source_location;

  // Names nothing.
  team() = default;
  // Makes a team of the members of the group, in their order. Called by one task, at any place.
  // Throws: bad_place for a group without members. Cost: a message to each place, along a tree.
  explicit team(const place_group& group);
  // All places: always there, never destroyed. Cost: nothing is sent.
  static team world() noexcept { return team({0, 0, remote::world_generation}); }

  // Of this place, from 0; how many; and which. Context: task at a member; do not suspend.
  std::size_t index() const;
  std::size_t size() const;
  place_group group() const;

  // Returns when all members have called it. Cost: ceil(log2 size) messages of each member.
  void barrier(source site = source::current()) const;

  // The root's value at all members; the others' may be anything. Along a tree: at most ceil(log2
  // size) messages of each member, one to each.
  template <class T>
  T broadcast(T value, place root, source site = source::current()) const;
  template <class T, std::size_t N>
  void broadcast(std::span<T, N> data, place root, source site = source::current()) const;

  // The contributions of all, combined: at the root; nothing elsewhere. `result` counts at the root
  // only, where it has as many elements as `mine`, and may be the same memory.
  template <class T, class Op>
  std::optional<T> reduce(const T& mine, Op op, place root, source site = source::current()) const;
  template <class T, std::size_t N, class U, std::size_t M, class Op>
  void reduce(std::span<T, N> mine, std::span<U, M> result, Op op, place root,
              source site = source::current()) const;

  // The same at all members. Cost: short ones ceil(log2 size) messages of each member; of long ones
  // each member sends every element less than twice, and twice more where the size is no power
  // of 2.
  template <class T, class Op>
  T allreduce(T mine, Op op, source site = source::current()) const;
  template <class T, std::size_t N, class Op>
  void allreduce(std::span<T, N> data, Op op, source site = source::current()) const;

  // A block of the root's to each member, in order: `all` counts at the root only, where it has
  // size() times as many elements as `mine`.
  template <class T, std::size_t N>
  std::remove_const_t<T> scatter(std::span<T, N> all, place root,
                                 source site = source::current()) const;
  template <class T, std::size_t N, class U, std::size_t M>
  void scatter(std::span<T, N> all, std::span<U, M> mine, place root,
               source site = source::current()) const;

  // The other way: the value of each member at the root, in order; elsewhere an empty vector, or
  // `all` as it was.
  template <class T>
  std::vector<T> gather(const T& mine, place root, source site = source::current()) const;
  template <class T, std::size_t N, class U, std::size_t M>
  void gather(std::span<T, N> mine, std::span<U, M> all, place root,
              source site = source::current()) const;

  // Block i of `out` goes to member i, block i of `in` comes from it. Both have the same size, a
  // multiple of size(). Cost: a message from each member to each other.
  template <class T, std::size_t N, class U, std::size_t M>
  void alltoall(std::span<T, N> out, std::span<U, M> in, source site = source::current()) const;

  // Teams of those that give the same color, in the order of key, then of index here. Who gives a
  // negative color gets an empty handle. Cost: a gather, and a broadcast of 24 bytes per member.
  team split(int color, int key = 0, source site = source::current()) const;

  // Ends the team, when all members have called it. Not of world().
  void destroy(source site = source::current()) const;

  bool operator==(const team&) const = default;

 private:
  explicit team(const remote::global_id& id) noexcept : id_(id) {}

  remote::team_member& member(const char* operation) const {
    return remote::member_of(id_, operation);
  }

  remote::global_id id_;
};

// ---- broadcast ----------------------------------------------------------------------------------

template <class T>
T team::broadcast(T value, place root, source site) const {
  static_assert(comm::require_sendable_value<T>());
  if constexpr (comm::byte_copyable<T>) {
    broadcast(std::span(&value, 1), root, site);
  } else {
    remote::collect(member("team::broadcast"), {remote::collective::broadcast, root, 0, site},
                    [&](remote::team_member& m, std::size_t from) {
                      comm::out_archive out;
                      if (m.index() == from) out(value);
                      const auto came = remote::run_broadcast_message(m, from, out.bytes());
                      if (m.index() != from) value = comm::in_archive(came.data()).read<T>();
                    });
  }
  return value;
}

template <class T, std::size_t N>
void team::broadcast(std::span<T, N> data, place root, source site) const {
  static_assert(remote::require_moved<T>());
  const auto bytes = std::as_writable_bytes(data);
  remote::collect(
      member("team::broadcast"), {remote::collective::broadcast, root, bytes.size(), site},
      [&](remote::team_member& m, std::size_t from) { remote::run_broadcast(m, from, bytes); });
}

// ---- reductions ---------------------------------------------------------------------------------

template <class T, class Op>
std::optional<T> team::reduce(const T& mine, Op op, place root, source site) const {
  static_assert(remote::require_moved<T>());
  T result = mine;
  const std::span all(&result, 1);
  reduce(all, all, std::move(op), root, site);
  if (root != here()) return std::nullopt;
  return result;
}

template <class T, std::size_t N, class U, std::size_t M, class Op>
void team::reduce(std::span<T, N> mine, std::span<U, M> result, Op op, place root,
                  source site) const {
  static_assert(remote::require_same<T, U>());
  remote::collect(member("team::reduce"),
                  {remote::collective::reduce, root, mine.size_bytes(), site},
                  [&](remote::team_member& m, std::size_t to) {
                    std::vector<remote::element<U>> scratch;
                    std::span<std::byte> data;
                    if (m.index() == to) {
                      remote::expect_size("team::reduce", "the result", result.size(), mine.size());
                      data = std::as_writable_bytes(result);
                    } else {
                      scratch.resize(mine.size());
                      data = std::as_writable_bytes(std::span(scratch));
                    }
                    remote::move_bytes(data, std::as_bytes(mine));
                    remote::run_reduce(m, to, data, remote::reduction_by<U>(op));
                  });
}

template <class T, class Op>
T team::allreduce(T mine, Op op, source site) const {
  static_assert(remote::require_moved<T>());
  allreduce(std::span(&mine, 1), std::move(op), site);
  return mine;
}

template <class T, std::size_t N, class Op>
void team::allreduce(std::span<T, N> data, Op op, source site) const {
  static_assert(remote::require_moved<T>());
  const auto bytes = std::as_writable_bytes(data);
  remote::collect(member("team::allreduce"),
                  {remote::collective::allreduce, std::nullopt, bytes.size(), site},
                  [&](remote::team_member& m, std::size_t) {
                    remote::run_allreduce(m, bytes, remote::reduction_by<T>(op));
                  });
}

// ---- scatter, gather, alltoall ------------------------------------------------------------------

template <class T, std::size_t N>
std::remove_const_t<T> team::scatter(std::span<T, N> all, place root, source site) const {
  static_assert(remote::require_moved<std::remove_const_t<T>>());
  remote::element<std::remove_const_t<T>> mine;
  const std::span to(reinterpret_cast<std::remove_const_t<T>*>(&mine), 1);
  scatter(all, to, root, site);
  return mine.value();
}

template <class T, std::size_t N, class U, std::size_t M>
void team::scatter(std::span<T, N> all, std::span<U, M> mine, place root, source site) const {
  static_assert(remote::require_same<T, U>());
  remote::collect(
      member("team::scatter"), {remote::collective::scatter, root, mine.size_bytes(), site},
      [&](remote::team_member& m, std::size_t from) {
        if (m.index() == from) {
          remote::expect_size("team::scatter", "all", all.size(), m.size() * mine.size());
        }
        remote::run_scatter(m, from, std::as_bytes(all), std::as_writable_bytes(mine));
      });
}

template <class T>
std::vector<T> team::gather(const T& mine, place root, source site) const {
  static_assert(comm::require_sendable_value<T>());
  std::vector<T> all;
  if constexpr (comm::byte_copyable<T> && !std::is_same_v<T, bool>) {
    if (root == here()) all.assign(size(), mine);
    gather(std::span(&mine, 1), std::span(all), root, site);
  } else {
    remote::collect(member("team::gather"), {remote::collective::gather, root, 0, site},
                    [&](remote::team_member& m, std::size_t to) {
                      comm::out_archive out;
                      out(mine);
                      for (const auto& each : remote::run_gather_messages(m, to, out.bytes())) {
                        all.push_back(comm::in_archive(each).read<T>());
                      }
                    });
  }
  return all;
}

template <class T, std::size_t N, class U, std::size_t M>
void team::gather(std::span<T, N> mine, std::span<U, M> all, place root, source site) const {
  static_assert(remote::require_same<T, U>());
  remote::collect(
      member("team::gather"), {remote::collective::gather, root, mine.size_bytes(), site},
      [&](remote::team_member& m, std::size_t to) {
        if (m.index() == to) {
          remote::expect_size("team::gather", "all", all.size(), m.size() * mine.size());
        }
        remote::run_gather(m, to, std::as_bytes(mine), std::as_writable_bytes(all));
      });
}

template <class T, std::size_t N, class U, std::size_t M>
void team::alltoall(std::span<T, N> out, std::span<U, M> in, source site) const {
  static_assert(remote::require_same<T, U>());
  remote::collect(member("team::alltoall"),
                  {remote::collective::alltoall, std::nullopt, out.size_bytes(), site},
                  [&](remote::team_member& m, std::size_t) {
                    const std::size_t each = out.size() / m.size();
                    remote::expect_size("team::alltoall", "out", out.size(), each * m.size());
                    remote::expect_size("team::alltoall", "in", in.size(), out.size());
                    remote::run_alltoall(m, std::as_bytes(out), std::as_writable_bytes(in));
                  });
}

}  // namespace apgas::inline v0
