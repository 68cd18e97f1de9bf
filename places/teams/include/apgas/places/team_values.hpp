// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <type_traits>

#include <apgas/base/api.hpp>
#include <apgas/comm/byte_copyable.hpp>
#include <apgas/place.hpp>
#include <apgas/places/team_collectives.hpp>
#include <apgas/places/team_member.hpp>

// Connects the typed collectives of team.hpp with those on bytes (team_collectives.hpp).
namespace apgas::inline v0::remote {

// The membership of this place in a team.
// Throws: illegal_operation if it is not a member, and outside a task.
// Context: task, outside critical sections.
APGAS_API team_member& member_of(const global_id& id, const char* operation);

// A collective call as the user makes it.
struct user_call {
  collective what = collective::none;
  std::optional<place> root;
  std::size_t bytes = 0;
  std::source_location site;
};

// Runs body(member, index of the root) as a call of the team. If an exception leaves it, the team
// breaks.
template <class Body>
void collect(team_member& m, const user_call& call, Body body) {
  team_call made{.what = call.what, .bytes = call.bytes, .site = call.site};
  try {
    if (call.root) made.root = m.group().index_of(*call.root);
    m.begin(made);
    if (!m.boards_decided()) agree_on_boards(m, call.what);
    if (call.root && m.count_one_sided(call.bytes)) run_barrier(m);
    body(m, made.root);
    m.end();
  } catch (...) {
    m.fail(made);
    throw;
  }
}

// Checks the element type of a span that a collective writes, or the type of a reduced value. A
// function, so that the compiler prints just this message.
template <class T>
consteval bool require_moved() {
  static_assert(!std::is_const_v<T>,
                "apgas: the collective writes to this span, so its elements cannot be const");
  static_assert(
      comm::byte_copyable<std::remove_const_t<T>>,
      "apgas: the elements of a span that a collective moves, and values that are reduced, must be "
      "trivially copyable without pointers. Pass a vector as std::span(v). Single values of "
      "broadcast and gather may be anything that can be sent: instead of reducing others, gather "
      "them, combine them at the root, and broadcast the result");
  return true;
}
// Checks the element types of two spans, of which the second is written.
template <class From, class To>
consteval bool require_same() {
  static_assert(std::is_same_v<std::remove_const_t<From>, std::remove_const_t<To>>,
                "apgas: both spans of a collective must have elements of the same type");
  return require_moved<To>();
}

// Throws illegal_operation if a span does not have the wanted number of elements.
APGAS_API void expect_size(const char* operation, const char* span, std::size_t found,
                           std::size_t wanted);

// Memory for a T, which need not have a default constructor.
template <class T>
struct alignas(T) element {
  comm::detail::raw_bytes<sizeof(T)> raw;

  T value() const noexcept { return __builtin_bit_cast(T, raw); }
};

// The function in a `reduction` for elements T and operation Op.
template <class T, class Op>
void combine(void* operation, std::byte* mine, const std::byte* theirs, std::size_t n,
             bool theirs_first) {
  Op& op = *static_cast<Op*>(operation);
  T* const to = reinterpret_cast<T*>(mine);
  const auto their = [theirs](std::size_t i) {
    comm::detail::raw_bytes<sizeof(T)> raw;
    std::memcpy(&raw, theirs + i * sizeof(T), sizeof(T));
    return __builtin_bit_cast(T, raw);
  };
  if (theirs_first) {
    for (std::size_t i = 0; i < n; ++i) to[i] = std::invoke(op, their(i), to[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i) to[i] = std::invoke(op, to[i], their(i));
  }
}

template <class T, class Op>
reduction reduction_by(Op& op) noexcept {
  static_assert(std::is_invocable_r_v<T, Op&, const T&, const T&>,
                "apgas: the operation of a reduction takes two values and returns one");
  return {&combine<T, Op>, &op, sizeof(T)};
}

}  // namespace apgas::inline v0::remote
