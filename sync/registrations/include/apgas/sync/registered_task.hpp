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

// The closure of a task that is spawned with registrations.
namespace apgas::inline v0::sync {

// What says, in the arguments of async, on what the child is registered: clocked(c), phased(ph, m).
// size says how many registrations, or count(self) where that is not fixed; for_each(self,
// operation, f) calls f(record of the running task, mode of the child) for each.
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
auto room_for_tickets(scheduler::fiber& self, const C& clause) {
  if constexpr (sized_clause<C>) {
    return std::array<ticket, C::size>{};
  } else {
    return std::vector<ticket>(clause.count(self));
  }
}

template <std::size_t N>
std::array<registration, N> records_for(const std::array<ticket, N>&) {
  return {};
}
inline std::vector<registration> records_for(const std::vector<ticket>& t) {
  return std::vector<registration>(t.size());
}

template <class Tickets, class F>
class registered_task {
 public:
  registered_task(Tickets tickets, F f) noexcept(std::is_nothrow_move_constructible_v<F>)
      : tickets_(std::move(tickets)), f_(std::move(f)) {}

  // How its slot is marked: one registration, which lies at the beginning of the closure.
  scheduler::slot_kind kind() const noexcept {
    if constexpr (std::is_same_v<Tickets, std::array<ticket, 1>> &&
                  scheduler::fits_slot<registered_task>) {
      if (tickets_[0].is_due()) return scheduler::slot_kind::member;
    }
    return scheduler::slot_kind::task;
  }

  decltype(auto) operator()() {
    auto records = records_for(tickets_);
    const registered_body registered(*scheduler::current_fiber(), tickets_, records);
    F f(std::move(f_));  // what it captures ends while the task is still registered
    return std::invoke(f);
  }

 private:
  Tickets tickets_;
  F f_;
};

// Calls use(tickets), with a ticket for everything that the clause names. If anything throws,
// nobody is registered.
template <class Use, registration_clause C>
decltype(auto) with_tickets(scheduler::fiber& self, const char* operation, const C& clause,
                            Use use) {
  auto tickets = room_for_tickets(self, clause);
  std::size_t taken = 0;
  const auto take = [&](registration& r, phaser_mode mode) {
    for (std::size_t i = 0; i < taken; ++i) {
      if (tickets[i].is_for(*r.node)) throw_given_twice(r.kind, operation);
    }
    tickets[taken] = give_ticket(self, r, mode, operation);
    ++taken;
  };
  try {
    clause.for_each(self, operation, take);
    return use(tickets);
  } catch (...) {
    while (taken != 0) return_ticket(self, tickets[--taken]);
    throw;
  }
}

// Calls spawn(task), where task() runs f() registered as the clause says.
template <class Spawn, class F, registration_clause C>
decltype(auto) spawn_registered(scheduler::fiber& self, const char* operation, const C& clause,
                                F&& f, Spawn spawn) {
  return with_tickets(self, operation, clause, [&](auto& tickets) -> decltype(auto) {
    using task = registered_task<std::remove_cvref_t<decltype(tickets)>, std::decay_t<F>>;
    return spawn(task(tickets, std::forward<F>(f)));
  });
}

}  // namespace apgas::inline v0::sync
