// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <apgas/monitor.hpp>

// Values for which tasks wait. A section of a monitor tests all conditions that wait there when it
// ends; a condition that names the watched cells that it reads is tested only after one of them was
// written. So a monitor at which thousands of tasks wait for different things stays fast.
//
//   apgas::monitor m;
//   std::deque<apgas::watched<int>> stock;                    // one for each of 1,000 products
//   for (int i = 0; i < 1000; ++i) stock.emplace_back(m);
//   apgas::finish([&] {
//     apgas::async([&] {
//       m.when(apgas::watching(stock[7]), [&] { return stock[7].get() >= 3; },
//              [&] { stock[7].change([](int& count) { count -= 3; }); });
//     });
//     m.atomic([&] { stock[7].set(5); });
//   });
namespace apgas::inline v0 {

// A value guarded by a monitor. It belongs to its place and can be neither copied nor moved. It may
// be made on any thread.
//
// Requires, when it is destroyed: no task waits for it.
template <class T>
class watched {
 public:
  // Makes a cell that the critical sections of the place guard: apgas::atomic and apgas::when.
  // Throws: what moving the value throws. Context: any thread.
  explicit watched(T value = T()) : cell_(nullptr), value_(std::move(value)) {}
  // Makes a cell that m guards, which must outlive it. Throws, Context: as above.
  explicit watched(monitor& m, T value = T()) : cell_(&m.core_), value_(std::move(value)) {}

  // Returns the value. Requires: the caller is inside a section or a condition of the monitor, or
  // no other task can write. Throws nothing. Context: any thread.
  const T& get() const noexcept { return value_; }

  // Sets the value. The conditions that watch the cell are tested when the section ends.
  // Throws: illegal_operation outside a critical section of the monitor; what the assignment
  // throws. Context: task, inside a section of the monitor; does not suspend. Cost: about 5 ns,
  // plus a test of each condition that watches the cell, when the section ends.
  void set(T value) {
    cell_.begin_write("watched::set");
    value_ = std::move(value);
  }

  // Calls f with a reference to the value, which f may change, and returns its result.
  // Throws: illegal_operation as set; what f throws. Context, Cost: as set.
  template <std::invocable<T&> F>
  auto change(F f) -> std::invoke_result_t<F&, T&> {
    cell_.begin_write("watched::change");
    return std::invoke(f, value_);
  }

 private:
  template <class... Ts>
  friend auto watching(watched<Ts>&... cells) -> sync::watched_cells<sizeof...(Ts)>;

  sync::watched_cell cell_;
  T value_;
};

// Returns the first argument of `when`, for the `cells` that a condition reads. The condition must
// depend on nothing else that changes: it is not tested after other writes, and its task would wait
// for ever. Throws nothing. Context: any thread. Cost: a few instructions.
template <class... Ts>
auto watching(watched<Ts>&... cells) -> sync::watched_cells<sizeof...(Ts)> {
  static_assert(sizeof...(Ts) > 0, "apgas::watching needs at least one cell");
  return {{&cells.cell_...}};
}

}  // namespace apgas::inline v0
