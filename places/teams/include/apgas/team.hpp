// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>
#include <apgas/place_group.hpp>
#include <apgas/places/global_table.hpp>
#include <apgas/places/team_collectives.hpp>
#include <apgas/places/team_values.hpp>

// Teams (X10): groups of places whose members call collective operations together, as in MPI.
// apgas.hpp explains the words of the contracts.
namespace apgas::inline v0 {

// A team. It is a handle: trivially copyable, 16 bytes, without pointers. It may be captured and
// sent to other places; copying it registers nothing. A *member* is a place of the team; no place
// is a member twice. At each member one task calls each collective, and all members make the same
// calls in the same order:
//
//   auto t = apgas::team::world();
//   apgas::finish([t] {
//     apgas::async_at(apgas::places(), [t] {
//       const double all = t.allreduce(measure(), std::plus<>());
//       t.barrier();
//     });
//   });
//
//   const apgas::team own(apgas::places());
//   apgas::finish([own] {
//     apgas::async_at(apgas::places(), [own] {
//       const apgas::place root = own.group()[0];
//       const double step = own.broadcast(0.1, root);
//       const std::optional<double> sum = own.reduce(step, std::plus<>(), root);  // at the root
//       const std::vector<std::size_t> all = own.gather(own.index(), root);       // at the root
//       assert(own.scatter(std::span(all), root) == own.index());
//
//       const std::vector<int> out(own.size(), 7);                                // one for each
//       std::vector<int> in(own.size());
//       own.alltoall(std::span(out), std::span(in));
//
//       const apgas::team half = own.split(static_cast<int>(own.index() % 2));
//       half.barrier();
//       half.destroy();
//       own.destroy();
//     });
//   });
//
// A call suspends only its task; the worker runs other tasks. Successive calls of a member may come
// from different tasks, if each begins after the one before has returned, for example after a
// finish.
//
// The *root* is the member from which or to which data go, given as a place. In a collective with
// data, all members pass the same root, and the same number of elements of the same type.
// Collective, root and size in bytes are compared; types and operations are not.
//
// Data are single values or spans. Unless said otherwise, a single value may be of any sendable
// type (at.hpp). The elements of a span, and values that are reduced, must be trivially copyable
// without pointers. A vector alone counts as a single value; pass its elements as a span:
// t.broadcast(std::span(v), root). The caller may use and change its data again when the call has
// returned. broadcast, reduce, scatter and gather need not wait for all members: the root of a
// broadcast may return before another member has begun its call, and may wait for it. So only
// barrier orders what is not part of the data.
//
// The operation of a reduction is called as T op(const T&, const T&). It runs in the calling tasks
// of the members, one call after the other at each, with no lock held. It may suspend, but the
// other members wait for it, and it may call no collective of the same team. It must be
// associative, and need not be commutative: it combines the values in the order of the members.
// Which neighbours are combined first depends only on the number of members, their hosts, whether
// the team uses shared memory, whether its members can read each other's memory, the size of the
// data and the root. So a sum of floating-point numbers, which is not quite associative, is bitwise
// the same whenever these are, and may differ in the last digits otherwise. After an allreduce all
// members have bitwise the same result.
//
// If members make their calls in different orders, if two tasks of a member call at the same time,
// or if an exception leaves a call that has begun at one member (see Throws below), the team
// *breaks*: all waiting calls and all later ones throw illegal_operation at all members, with a
// message that names the calls and where they were made. A call that is complete at a member
// returns there as usual. Spans that a call which throws would have written have unspecified
// contents. A broken team stays broken until `run` returns, destroy() throws as well, and
// team::world() is no exception; make another team, such as team(place_group(places())). A member
// that makes fewer calls than the others is not detected: they wait for it. If places wait for each
// other in calls of different teams, a line on standard error says so after APGAS_TEAM_WARNING
// seconds (10 by default), and they go on waiting.
//
// The costs below are those without shared memory. Where members share it, most collectives need no
// messages within a host (docs/protocols/team.md); the first call then costs an allreduce more.
//
// Throws of all collectives:
//   - illegal_operation, without effect on the team: if the handle is empty, after destroy(), at a
//     place that is not a member, inside `atomic` or `when`, and outside a task.
//   - illegal_operation if the team is broken or breaks.
//   - serialization_error, which breaks the team, if another place of the host cannot read long
//     data of a member; APGAS_ONE_SIDED=messages copies them instead.
//   - bad_place if the root is not a member, illegal_operation if the sizes of spans do not fit,
//     and what a reduction operation or a serialize function throws. These break the team.
//   - std::bad_alloc, which breaks the team as well. Only split may also throw it before it has
//     begun; the member has then not made the call.
// Context of all collectives: task at a member, not inside `atomic` or `when`; may suspend and
// resume on another worker.
//
// `site` is where the program made the call, for error messages; the compiler fills it in.
class team {
 public:
  using source = std::source_location;

  // The empty handle, which identifies no team. Throws nothing.
  // Context: any thread.
  team() = default;
  // Makes a team of the places of the group, in their order, and returns when every member knows
  // it. Called by one task, at any place, also at one that is not in the group. Send the handle to
  // the members.
  // Throws: bad_place if the group is empty; illegal_operation inside `atomic` or `when`, and
  // outside a task; std::bad_alloc, or multiple_exceptions with it if a member has no memory.
  // Context: task; may suspend and resume on another worker.
  // Cost: a message to each place, along a tree.
  APGAS_API explicit team(const place_group& group);
  // The team of all places. It always exists and cannot be destroyed. Throws nothing.
  // Context: any thread.
  // Cost: no message.
  static team world() noexcept { return team({0, 0, remote::world_generation}); }

  // The index of this place in the team, from 0; the number of members; and the members, in order.
  // Throws: illegal_operation as all, but also a broken team answers.
  // Context: task at a member, not inside `atomic` or `when`; do not suspend.
  // Cost: a lookup.
  APGAS_API std::size_t index() const;
  APGAS_API std::size_t size() const;
  APGAS_API place_group group() const;

  // Waits until all members have called it (MPI_Barrier). What the calling task of each member did
  // before its call happens before what the calling task of any member does after its own. So a
  // member that reads global memory afterwards sees the writes that were complete (one_sided.hpp)
  // before the calls of the others.
  // Cost: ceil(log2 size) messages from each member on one host; on several hosts fewer
  // (docs/protocols/team.md).
  APGAS_API void barrier(source site = source::current()) const;

  // Copies the root's value, or the elements of its span, to all members (MPI_Bcast). The single
  // value that other members pass is ignored, but its type must be the same. Returns the root's
  // value. The span is read at the root and overwritten at the other members.
  // Cost: size - 1 messages, sent along a tree of ceil(log2 size) levels on one host.
  template <class T>
  T broadcast(T value, place root, source site = source::current()) const;
  template <class T, std::size_t N>
  void broadcast(std::span<T, N> data, place root, source site = source::current()) const;

  // Combines the contributions of all members by op, and gives the result to the root (MPI_Reduce).
  // The first form returns it at the root, and an empty optional at the other members. The second
  // form combines element by element and writes to `result`, which is used at the root only. There
  // it has as many elements as `mine`, and may be the same memory.
  // Cost: as broadcast.
  template <class T, class Op>
  std::optional<T> reduce(const T& mine, Op op, place root, source site = source::current()) const;
  template <class T, std::size_t N, class U, std::size_t M, class Op>
  void reduce(std::span<T, N> mine, std::span<U, M> result, Op op, place root,
              source site = source::current()) const;

  // Combines the contributions of all members by op, and gives the result to all of them
  // (MPI_Allreduce). The first form returns it; `mine` is the contribution of this member. The
  // second form combines element by element, in place.
  // Cost: below 8 KiB at most log2 size + 2 messages after each other. From 8 KiB on, each member
  // sends each element less than twice; if size is no power of two, some members send them twice
  // more.
  template <class T, class Op>
  T allreduce(T mine, Op op, source site = source::current()) const;
  template <class T, std::size_t N, class Op>
  void allreduce(std::span<T, N> data, Op op, source site = source::current()) const;

  // Sends block i of the root's span to member i (MPI_Scatter). The first form returns the value of
  // this member, the second writes to `mine`. `all` is used at the root only, with size() elements
  // in the first form, and size() times as many as `mine` in the second.
  // Cost: size - 1 messages; blocks below 4 KiB are sent along a tree.
  template <class T, std::size_t N>
  std::remove_const_t<T> scatter(std::span<T, N> all, place root,
                                 source site = source::current()) const;
  template <class T, std::size_t N, class U, std::size_t M>
  void scatter(std::span<T, N> all, std::span<U, M> mine, place root,
               source site = source::current()) const;

  // The inverse of scatter: collects the contributions of all members at the root, in the order of
  // the members (MPI_Gather). The first form returns them there, and an empty vector at the other
  // members. The second form writes them to `all`, which is used at the root only, with size()
  // times as many elements as `mine`.
  // Cost: as scatter.
  template <class T>
  std::vector<T> gather(const T& mine, place root, source site = source::current()) const;
  template <class T, std::size_t N, class U, std::size_t M>
  void gather(std::span<T, N> mine, std::span<U, M> all, place root,
              source site = source::current()) const;

  // Sends block i of `out` to member i, and receives block i of `in` from it (MPI_Alltoall). Both
  // have the same number of elements, a multiple of size(), and must not overlap.
  // Cost: a message from each member to each other.
  template <class T, std::size_t N, class U, std::size_t M>
  void alltoall(std::span<T, N> out, std::span<U, M> in, source site = source::current()) const;

  // Divides the team: members that pass the same color form a new team, in the order of `key`,
  // and among equal keys in the order of this team (MPI_Comm_split). Returns the new team; a
  // member that passes a negative color gets an empty handle. This team remains. All members call
  // it.
  // Cost: a gather and a broadcast of 24 bytes for each member.
  APGAS_API team split(int color, int key = 0, source site = source::current()) const;

  // Ends the team when all members have called it. Afterwards all copies of the handle are stale: a
  // call with one throws illegal_operation. A team that is not destroyed exists until `run`
  // returns.
  // Throws also: illegal_operation for team::world(), which does not break it. A broken team cannot
  // be destroyed; like any team that is not, it exists until `run` returns.
  // Cost: a barrier, and a message to the place that made the team.
  APGAS_API void destroy(source site = source::current()) const;

  // Whether both are handles of the same team, or both empty.
  // Throws nothing.
  // Context: any thread.
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
                    const remote::reduction by = remote::reduction_by<U>(op);
                    std::vector<remote::element<U>> scratch;
                    std::span<std::byte> data;
                    if (m.index() == to) {
                      remote::expect_size("team::reduce", "result", result.size(), mine.size());
                      data = std::as_writable_bytes(result);
                    } else if (remote::combines_in_reduce(m, to, by)) {
                      scratch.resize(mine.size());
                      data = std::as_writable_bytes(std::span(scratch));
                    }
                    remote::run_reduce(m, to, std::as_bytes(mine), data, by);
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
    const std::span<const T> sent(&mine, 1);
    remote::collect(
        member("team::gather"), {remote::collective::gather, root, sent.size_bytes(), site},
        [&](remote::team_member& m, std::size_t to) {
          if (m.index() == to) all.assign(m.size(), mine);
          remote::run_gather(m, to, std::as_bytes(sent), std::as_writable_bytes(std::span(all)));
        });
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
