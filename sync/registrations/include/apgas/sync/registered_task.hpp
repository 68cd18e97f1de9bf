// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/sync/registration.hpp>

// The closure of a task that is spawned with registrations on clocks or phasers.
namespace apgas::inline v0::sync {

// A registration clause is the argument of async that names what the child is registered on:
// clocked(c), phased(ph, m). `size` is the number of registrations, or count(self) if it is not
// fixed. for_each(self, operation, f) calls f(record of the running task, mode of the child) for
// each registration, in the order in which the child gets them: its newest is the last.
template <class C>
concept registration_clause = std::remove_cvref_t<C>::is_registration_clause;

template <std::size_t N>
struct clause_of_size {
  static constexpr bool is_registration_clause = true;
  static constexpr std::size_t size = N;
  static std::size_t count(const scheduler::fiber&) noexcept { return N; }
};
struct clause_of_any_size {
  static constexpr bool is_registration_clause = true;
};

template <class C>
concept sized_clause = requires { std::integral_constant<std::size_t, C::size>(); };

// Two clauses as one.
template <class C, class D>
struct both_size : clause_of_any_size {};
template <sized_clause C, sized_clause D>
struct both_size<C, D> : clause_of_size<C::size + D::size> {};

template <registration_clause C, registration_clause D>
struct both : both_size<C, D> {
  both(const C& c, const D& d) noexcept : first(c), second(d) {}

  template <class F>
  void for_each(scheduler::fiber& self, const char* operation, F f) const {
    first.for_each(self, operation, f);
    second.for_each(self, operation, f);
  }
  std::size_t count(scheduler::fiber& self) const { return first.count(self) + second.count(self); }

  const C& first;
  const D& second;
};

template <registration_clause C>
auto room_for_transits(scheduler::fiber& self, const C& clause) {
  if constexpr (sized_clause<C>) {
    return std::array<transit, C::size>{};
  } else {
    return std::vector<transit>(clause.count(self));
  }
}

template <std::size_t N>
std::array<registration, N> records_for(const std::array<transit, N>&) {
  return {};
}
inline std::vector<registration> records_for(const std::vector<transit>& t) {
  return std::vector<registration>(t.size());
}

template <class Transits, class F>
class registered_task {
 public:
  registered_task(Transits transits, F f) noexcept(std::is_nothrow_move_constructible_v<F>)
      : transits_(std::move(transits)), f_(std::move(f)) {}

  // The kind of the task's deque slot. `member` stands for a single registration, stored at the
  // beginning of the closure, whose task is unarrived.
  scheduler::slot_kind kind() const noexcept {
    if constexpr (std::is_same_v<Transits, std::array<transit, 1>> &&
                  scheduler::fits_slot<registered_task>) {
      if (transits_[0].is_unarrived()) return scheduler::slot_kind::member;
    }
    return scheduler::slot_kind::task;
  }

  decltype(auto) operator()() {
    auto records = records_for(transits_);
    const registered_body registered(*scheduler::current_fiber(), transits_, records);
    F f(std::move(f_));  // captures are destroyed while the task is still registered
    return std::invoke(f);
  }

 private:
  Transits transits_;
  F f_;
};

// Registers a child on everything that the clause names, and calls use(transits) with the
// registrations in transit. If anything throws, all of them are cancelled.
template <class Use, registration_clause C>
decltype(auto) with_transits(scheduler::fiber& self, const char* operation, const C& clause,
                             Use use) {
  auto transits = room_for_transits(self, clause);
  std::size_t taken = 0;
  const auto take = [&](registration& r, phaser_mode mode) {
    for (std::size_t i = 0; i < taken; ++i) {
      if (transits[i].is_for(*r.node)) throw_given_twice(r.kind, operation);
    }
    transits[taken] = begin_transit(self, r, mode, operation);
    ++taken;
  };
  try {
    clause.for_each(self, operation, take);
    return use(transits);
  } catch (...) {
    while (taken != 0) cancel_transit(self, transits[--taken]);
    throw;
  }
}

// Calls spawn(task), where task() runs f() registered as the clause says.
template <class Spawn, class F, registration_clause C>
decltype(auto) spawn_registered(scheduler::fiber& self, const char* operation, const C& clause,
                                F&& f, Spawn spawn) {
  return with_transits(self, operation, clause, [&](auto& transits) -> decltype(auto) {
    using task = registered_task<std::remove_cvref_t<decltype(transits)>, std::decay_t<F>>;
    return spawn(task(transits, std::forward<F>(f)));
  });
}

}  // namespace apgas::inline v0::sync
