// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/async_future_at.hpp>
#include <apgas/distribution.hpp>
#include <apgas/finish.hpp>
#include <apgas/forall.hpp>
#include <apgas/places/grid_portion.hpp>

// Distributed arrays of two dimensions, for stencil computations.
namespace apgas::inline v0 {

// A two-dimensional array in blocks. The places of the group form a grid that is as near to a
// square as their number allows, in row-major order; each place has the block of elements at its
// position, its *local portion*. A dist_grid is a handle like dist_array: 16 bytes, stale after
// destroy().
//
//   const apgas::dist_grid<double> g(128, 256, {.halo = 1});
//   assert(g.rows() == 128 && g.columns() == 256);
//   forall(g, [](std::size_t r, std::size_t c, double& x) { x = r == c ? 1 : 0; });
//   g.put(3, 4, 2.5);
//   assert(g.get(3, 4) == 2.5 && g.reduce(0.0, std::plus<>()) == 130.5);
//   g.scatter(g.gather());
//   g.exchange_halo();                           // called by one task
//   apgas::finish([g] {
//     apgas::async_at(g.group(), [g] {           // at each place
//       apgas::finish([g] { g.send_halo(); });   // to the neighbours
//       g.swap_halo();                           // with all other places
//       const auto mine = g.local();             // indices from -1 to mine.rows(), mine.columns()
//       use(mine(-1, 0) + mine(0, -1));
//       g.for_each_local([g](std::size_t r, std::size_t c, double& x) {
//         if (g.place_of(r, c) == apgas::here()) x += 1;
//       });
//     });
//   });
//   g.destroy();
//
// Which task calls what, Throws, Context and (S) are as for dist_array.
template <class T>
class dist_grid {
  static_assert(remote::require_element<T>());

 public:
  using value_type = T;

  // The empty handle.
  dist_grid() = default;
  // (S) Makes an array of `rows` times `columns` elements with value T{}; `options` has the places
  // and the halo.
  // Throws: illegal_operation if the array is too large to be addressed, if the group is empty, or
  // if a place has fewer rows or columns than the halo is wide; multiple_exceptions with
  // std::bad_alloc. If it throws, there is no array.
  // Cost: one message each way for each place.
  dist_grid(std::size_t rows, std::size_t columns, const dist_options& options = {});

  // The numbers of rows and of columns of the whole array.
  std::size_t rows() const { return portion().shape.rows.size(); }
  std::size_t columns() const { return portion().shape.columns.size(); }
  // The places that have the elements. The reference is valid until destroy().
  const place_group& group() const { return portion().group; }
  // The place that has element (r, c).
  // Throws: illegal_operation if there is no such element. Cost: some ns; no message.
  place place_of(std::size_t r, std::size_t c) const;

  // The local portion, with its halo.
  // Cost: a few loads. In a loop, keep the view.
  grid_view<T> local() const { return portion().view(); }
  // (S) Calls f(r, c, x) for each element x of the local portion, in parallel on the workers of
  // this place. r and c are indices in the whole array.
  // Throws, Cost: as forall over integers; no message.
  template <class F>
    requires std::invocable<F&, std::size_t, std::size_t, T&>
  void for_each_local(F f) const;

  // (S) get() returns a copy of element (r, c); put() assigns x to it.
  // Throws: illegal_operation if there is no such element.
  // Cost: one message each way.
  T get(std::size_t r, std::size_t c) const;
  void put(std::size_t r, std::size_t c, const T& x) const;
  // (S) gather() returns all elements row by row. scatter() assigns values to all of them in the
  // same order.
  // Throws: illegal_operation if `values` has another size than the array; serialization_error if a
  // local portion exceeds 1 GiB.
  // Cost: one message each way for each place.
  std::vector<T> gather() const;
  void scatter(std::span<const T> values) const;
  // (S) Combines map(x) of all elements x with `op`, starting from `identity`, and returns the
  // result. `op` must be associative and commutative; all three arguments must be sendable.
  // Cost: one message each way for each place.
  template <class R, class Op, class Map = std::identity>
  R reduce(R identity, Op op, Map map = {}) const;

  // Sends the outermost elements of the local portion to the halos of all neighbours, also to those
  // at the corners. The enclosing finish waits until they are there. No task may use those halos
  // meanwhile.
  // Cost: up to eight messages.
  void send_halo() const;
  // (S) Calls send_halo() at all places of the group, and waits until all halos are up to date.
  // Cost: a message to each place and back, and one to each neighbour.
  void exchange_halo() const;
  // (S) The same for programs that run a task at each place of the group: all these tasks call it
  // together. Each sends its outermost elements, and waits for those of its own neighbours only. A
  // place that has received them may be one exchange ahead of a neighbour. So do not overwrite
  // outermost elements that a neighbour may still need: use two arrays in turn, as a stencil does.
  // If one place leaves out a call, its neighbours wait forever.
  // Cost: up to eight messages.
  void swap_halo() const;

  // (S) Destroys the elements at all places. Called by one task, at any place.
  // Requires: no task uses them any more.
  // Throws: illegal_operation if they were destroyed before.
  // Cost: one message each way for each place.
  void destroy() const {
    if (portion_ == handle()) static_cast<void>(portion());  // throws
    portion_.destroy();
  }

  // Whether both are handles of the same array, or both empty.
  bool operator==(const dist_grid&) const = default;

 private:
  using portion_type = remote::grid_portion<T>;
  using handle = place_local<portion_type>;
  portion_type& portion() const { return remote::place_local_access::get(portion_, "dist_grid"); }
  // Sends the outermost elements for this turn; returns to how many neighbours.
  int send_edges(std::size_t turn) const;
  // Calls f(first, n) for each row of a portion, in order. The row has n elements; the first one
  // has index `first` in the whole array, counted row by row.
  template <class F>
  void for_each_row(std::size_t portion, F f) const;

  handle portion_;
};

// (S) Calls body(r, c, x) for each element x of `g`, at its place and in parallel on the workers
// there. It is a finish: it also waits for the tasks that `body` spawns. `body` must be sendable
// (at.hpp).
// Throws: multiple_exceptions with everything that was thrown.
// Context: task at a place of the group, not inside `atomic` or `when`; may suspend and resume on
// another worker.
// Cost: one message each way for each place, and forall over the local portion there.
template <class T, class Body>
void forall(const dist_grid<T>& g, Body body) {
  finish([&] {
    for (const place p : g.group()) {
      async_at(p, [g](Body& f) { g.for_each_local(std::move(f)); }, body);
    }
  });
}

// ---- implementation

template <class T>
dist_grid<T>::dist_grid(std::size_t rows, std::size_t columns, const dist_options& options) {
  sync::suspendable_fiber("dist_grid");
  const std::size_t portions = options.group.size();
  remote::check_dist_grid(rows, columns, sizeof(T), portions);
  const remote::grid_shape shape(rows, columns, portions);
  remote::check_dist_halo("rows", shape.rows.size_of(shape.places.rows - 1), options.halo);
  remote::check_dist_halo("columns", shape.columns.size_of(shape.places.columns - 1), options.halo);
  portion_ = handle::make(
      options.group,
      [](const remote::grid_shape& s, const place_group& g, std::size_t halo) {
        return portion_type(s, g, g.index_of(here()), halo);
      },
      shape, options.group, options.halo);
}

template <class T>
place dist_grid<T>::place_of(std::size_t r, std::size_t c) const {
  const portion_type& p = portion();
  if (r >= rows()) remote::throw_no_element(r, rows());
  if (c >= columns()) remote::throw_no_element(c, columns());
  return p.group[p.shape.portion_of(r, c)];
}

template <class T>
template <class F>
  requires std::invocable<F&, std::size_t, std::size_t, T&>
void dist_grid<T>::for_each_local(F f) const {
  const grid_view<T> mine = local();
  forall(std::size_t{0}, mine.rows(), [&](std::size_t r) {
    T* const row = mine.row(static_cast<std::ptrdiff_t>(r));
    for (std::size_t c = 0; c < mine.columns(); ++c) {
      f(mine.first_row() + r, mine.first_column() + c, row[c]);
    }
  });
}

template <class T>
T dist_grid<T>::get(std::size_t r, std::size_t c) const {
  return at(place_of(r, c), [g = *this, r, c]() -> T { return g.portion().element(r, c); });
}

template <class T>
void dist_grid<T>::put(std::size_t r, std::size_t c, const T& x) const {
  at(place_of(r, c), [g = *this, r, c](const T& value) { g.portion().element(r, c) = value; }, x);
}

template <class T>
template <class F>
void dist_grid<T>::for_each_row(std::size_t portion, F f) const {
  const remote::grid_shape& shape = this->portion().shape;
  const std::size_t down = portion / shape.places.columns;
  const std::size_t right = portion % shape.places.columns;
  for (std::size_t r = 0; r < shape.rows.size_of(down); ++r) {
    f((shape.rows.first_of(down) + r) * columns() + shape.columns.first_of(right),
      shape.columns.size_of(right));
  }
}

template <class T>
void dist_grid<T>::scatter(std::span<const T> values) const {
  const portion_type& p = portion();
  if (values.size() != rows() * columns()) {
    remote::throw_other_size(rows() * columns(), values.size());
  }
  finish([&] {
    for (std::size_t k = 0; k < p.group.size(); ++k) {
      std::vector<T> portion_values;
      for_each_row(k, [&](std::size_t first, std::size_t n) {
        const auto row = values.subspan(first, n);
        portion_values.insert(portion_values.end(), row.begin(), row.end());
      });
      async_at(
          p.group[k],
          [g = *this](const std::vector<T>& mine) {
            auto next = mine.begin();
            g.portion().for_each_on({}, false, [&](T& x) { x = *next++; });
          },
          portion_values);
    }
  });
}

template <class T>
std::vector<T> dist_grid<T>::gather() const {
  const portion_type& p = portion();
  std::vector<future<std::vector<T>>> portions_of_places;
  for (const place q : p.group) {
    portions_of_places.push_back(async_future_at(q, [g = *this] {
      std::vector<T> values;
      values.reserve(g.portion().count_on({}));
      g.portion().for_each_on({}, false, [&](const T& x) { values.push_back(x); });
      return values;
    }));
  }
  std::vector<T> all(rows() * columns());
  for (std::size_t k = 0; k < portions_of_places.size(); ++k) {
    auto next = portions_of_places[k].get().begin();
    for_each_row(k, [&](std::size_t first, std::size_t n) {
      std::copy_n(next, n, all.begin() + static_cast<std::ptrdiff_t>(first));
      next += static_cast<std::ptrdiff_t>(n);
    });
  }
  return all;
}

template <class T>
template <class R, class Op, class Map>
R dist_grid<T>::reduce(R identity, Op op, Map map) const {
  std::vector<future<R>> sums;
  for (const place q : group()) {
    sums.push_back(async_future_at(
        q,
        [](const dist_grid& g, const R& zero, Op& plus, Map& f) {
          R sum = zero;
          g.portion().for_each_on({}, false, [&](const T& x) { sum = plus(std::move(sum), f(x)); });
          return sum;
        },
        *this, identity, op, map));
  }
  R sum = std::move(identity);
  for (const future<R>& s : sums) sum = op(std::move(sum), s.get());
  return sum;
}

template <class T>
int dist_grid<T>::send_edges(std::size_t turn) const {
  portion_type& p = portion();
  if (p.halo == 0) return 0;
  int neighbours = 0;
  for (int down = -1; down <= 1; ++down) {
    for (int right = -1; right <= 1; ++right) {
      const remote::grid_side side{down, right};
      if ((down == 0 && right == 0) || !p.has(side)) continue;
      std::vector<T> edge;
      edge.reserve(p.count_on(side));
      p.for_each_on(side, false, [&](const T& x) { edge.push_back(x); });
      async_at(
          p.neighbour(side),
          [g = *this, turn](const remote::grid_side& from, const std::vector<T>& values) {
            auto next = values.begin();
            portion_type& there = g.portion();
            there.for_each_on(from, true, [&](T& x) { x = *next++; });
            there.edges.arrived(turn);
          },
          remote::grid_side{-down, -right}, edge);
      ++neighbours;
    }
  }
  return neighbours;
}

template <class T>
void dist_grid<T>::send_halo() const {
  send_edges(remote::halo_edges::uncounted);
}

template <class T>
void dist_grid<T>::swap_halo() const {
  sync::suspendable_fiber("swap_halo");
  portion_type& p = portion();
  const std::size_t turn = p.edges.begin();
  p.edges.wait(turn, send_edges(turn));
}

template <class T>
void dist_grid<T>::exchange_halo() const {
  finish([&] {
    for (const place q : group()) async_at(q, [g = *this] { g.send_halo(); });
  });
}

}  // namespace apgas::inline v0
