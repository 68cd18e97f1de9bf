// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
#include <apgas/places/array_portion.hpp>

// Distributed arrays of one dimension.
namespace apgas::inline v0 {

namespace remote {
struct dist_array_access;
}

// An array whose elements are distributed over the places of a group (X10's DistArray, Global
// Arrays). The elements at one place are its *local portion*. A dist_array is a handle: trivially
// copyable, 16 bytes, without pointers; copying it registers nothing. The elements live until
// destroy() is called, or else until the end of the run; after that all copies are stale, and using
// one throws.
//
//   const apgas::dist_array<double> a(1'000'000, apgas::distribution::block());
//   forall(a, [](std::size_t i, double& x) { x = std::sqrt(i); });  // at the place of each element
//   const double sum = a.reduce(0.0, std::plus<>());
//   a.put(7, 2.5);
//   assert(a.get(7) == 2.5);
//   std::vector<double> all = a.gather();
//   std::ranges::reverse(all);
//   a.scatter(all);
//   a.destroy();
//
//   const apgas::dist_array<int> b(1'000, apgas::distribution::cyclic());
//   apgas::finish([b] {
//     apgas::async_at(b.group(), [b] {                              // at each place
//       b.for_each_local([](std::size_t i, int& x) { x = static_cast<int>(i); });
//       const std::span<int> mine = b.local();                      // not all of b.size()
//       for (std::size_t k = 0; k < mine.size(); ++k) {
//         const std::size_t i = b.index_of(k);
//         assert(b.place_of(i) == apgas::here() && &b[i] == &mine[k]);
//       }
//     });
//   });
//
//   const apgas::dist_array<double> from(1'000, apgas::distribution::block(), {.halo = 1});
//   const apgas::dist_array<double> to(1'000, apgas::distribution::block(), {.halo = 1});
//   from.exchange_halo();                                           // called by one task
//   apgas::finish([=] {
//     apgas::async_at(from.group(), [=] {
//       apgas::finish([=] { from.send_halo(); });                   // to both neighbours only
//       from.swap_halo();                                           // with all other places
//       to.local().front() = from.before().back() + from.behind().front();
//     });
//   });
//
// Elements must be trivially copyable without pointers. Tasks that access the same element must
// synchronise. dist_algorithms.hpp has the algorithms of apgas::parallel over these arrays.
//
// The operations on the whole array (gather, scatter, reduce, exchange_halo, forall) are called by
// *one* task, at any place of the group; they return when all places have done their share.
// Constructors and destroy() may be called at any place. The other functions concern the place at
// which they are called.
//
// Throws of all: illegal_operation if the handle is empty or stale, and outside a task; bad_place
// at a place that is not in the group.
// Context of all: task. Functions marked (S) may suspend and resume on another worker; inside
// `atomic` or `when` they throw illegal_operation.
template <class T>
class dist_array {
  static_assert(remote::require_element<T>());

 public:
  using value_type = T;

  // The empty handle.
  dist_array() = default;
  // (S) Makes an array of `size` elements, divided as `d` and `options` say. Their values are T{},
  // or init(i), which runs at the place of element i (at each place, if replicated). `init` must be
  // sendable (at.hpp).
  // Throws: illegal_operation if the array is too large to be addressed, if the group is empty, or
  // if the halo does not fit; multiple_exceptions with everything that init threw, or
  // std::bad_alloc. If it throws, there is no array.
  // Cost: one message each way for each place, and evaluating init.
  dist_array(std::size_t size, distribution d, const dist_options& options = {})
      : dist_array(size, d, nothing{}, options) {}
  template <class Init>
    requires std::is_invocable_r_v<T, Init&, std::size_t>
  dist_array(std::size_t size, distribution d, Init init, const dist_options& options = {})
      : portion_(make(size, d, std::move(init), options)) {}

  // The number of elements of the whole array.
  std::size_t size() const { return portion().shape.size(); }
  // The places that have the elements. The reference is valid until destroy().
  const place_group& group() const { return portion().group; }
  // The place that has element i. If the array is replicated, this place.
  // Throws: illegal_operation if i >= size(). Cost: some ns; no message.
  place place_of(std::size_t i) const;

  // ---- the local portion

  // The local portion, in order of the indices. With a block distribution, or if replicated, the
  // indices are consecutive.
  // Cost: a few loads. In a loop, keep the span.
  std::span<T> local() const { return portion().local(); }
  // The index in the whole array of element k of the local portion, local()[k]. Cost: as local().
  std::size_t index_of(std::size_t k) const { return portion().shape.index_of(portion().mine, k); }
  // Element i, which must be in the local portion.
  // Throws: bad_place if it is not; illegal_operation if i >= size().
  T& operator[](std::size_t i) const;
  // (S) Calls f(i, x), or f(x), for each element x of the local portion, in parallel on the workers
  // of this place.
  // Throws, Cost: as forall over integers.
  template <class F>
  void for_each_local(F f) const;

  // ---- elements at any place

  // (S) get() returns a copy of element i; put() assigns x to it, at all places if replicated.
  // Throws: illegal_operation if i >= size().
  // Cost: one message each way.
  T get(std::size_t i) const;
  void put(std::size_t i, const T& x) const;
  // (S) gather() returns all elements in order of their indices. scatter() assigns values[i] to
  // element i.
  // Throws: illegal_operation if values.size() != size(); serialization_error if a local portion
  // exceeds 1 GiB.
  // Cost: one message each way for each place.
  std::vector<T> gather() const;
  void scatter(std::span<const T> values) const;
  // (S) Combines map(x) of all elements x with `op`, starting from `identity`, and returns the
  // result. `op` must be associative and commutative; all three arguments must be sendable. The
  // elements of a replicated array count once.
  // Cost: one message each way for each place.
  template <class R, class Op, class Map = std::identity>
  R reduce(R identity, Op op, Map map = {}) const;

  // ---- halo

  // The halo: copies of the last `halo` elements of the previous place, and of the first `halo`
  // elements of the next place, as the last exchange brought them. At the ends of the array the
  // halo is the boundary: T{}, until the program writes to it.
  std::span<T> before() const { return portion().before(); }
  std::span<T> behind() const { return portion().behind(); }
  // Sends the outermost elements of the local portion to the halos of both neighbours. The
  // enclosing finish waits until they are there. No task may use those halos meanwhile.
  // Cost: a message to each neighbour.
  void send_halo() const;
  // (S) Calls send_halo() at all places of the group, and waits until all halos are up to date.
  // Cost: a message to each place and back, and one to each neighbour.
  void exchange_halo() const;
  // (S) The same for programs that run a task at each place of the group: all these tasks call it
  // together. Each sends its outermost elements, and waits for those of its own neighbours only. A
  // place that has received them may be one exchange ahead of a neighbour. So do not overwrite
  // outermost elements that a neighbour may still need: use two arrays in turn, as a stencil does.
  // If one place leaves out a call, its neighbours wait forever.
  // Cost: a message to each neighbour.
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
  bool operator==(const dist_array&) const = default;

 private:
  friend struct remote::dist_array_access;
  using portion_type = remote::array_portion<T>;
  using handle = place_local<portion_type>;
  struct nothing {
    T operator()(std::size_t) const { return T{}; }
  };

  template <class Init>
  static handle make(std::size_t size, distribution d, Init init, const dist_options& options);
  portion_type& portion() const { return remote::place_local_access::get(portion_, "dist_array"); }
  // Sends the outermost elements for this turn; returns to how many neighbours.
  int send_edges(std::size_t turn) const;

  handle portion_;
};

// For the algorithms over distributed arrays (dist_algorithms.hpp).
struct remote::dist_array_access {
  template <class T>
  static const array_portion<T>& portion(const dist_array<T>& a) {
    return a.portion();
  }
};

// (S) Calls body(i, x), or body(x), for each element x of the array, at its place and in parallel
// on the workers there; if replicated, for each copy. It is a finish: it also waits for the tasks
// that `body` spawns. `body` must be sendable (at.hpp).
// Throws: multiple_exceptions with everything that was thrown.
// Context: task at a place of the group, not inside `atomic` or `when`; may suspend and resume on
// another worker.
// Cost: one message each way for each place, and forall over the local portion there.
template <class T, class Body>
void forall(const dist_array<T>& a, Body body) {
  finish([&] {
    for (const place p : a.group()) {
      async_at(p, [a](Body& f) { a.for_each_local(std::move(f)); }, body);
    }
  });
}

// ---- implementation

template <class T>
template <class Init>
auto dist_array<T>::make(std::size_t size, distribution d, Init init, const dist_options& options)
    -> handle {
  sync::suspendable_fiber("dist_array");
  remote::dist_shape shape(size, d, std::max(options.group.size(), std::size_t{1}));
  remote::check_dist_array(shape, sizeof(T), options.halo, options.group.size());
  return handle::make(
      options.group,
      [](const remote::dist_shape& s, const place_group& g, std::size_t halo, Init& f) {
        portion_type made(s, g, g.index_of(here()), halo);
        const std::span<T> elements = made.local();
        if constexpr (!std::is_same_v<Init, nothing>) {
          for (std::size_t k = 0; k < elements.size(); ++k) {
            elements[k] = f(made.shape.index_of(made.mine, k));
          }
        }
        return made;
      },
      shape, options.group, options.halo, std::move(init));
}

template <class T>
place dist_array<T>::place_of(std::size_t i) const {
  const portion_type& p = portion();
  if (i >= p.shape.size()) remote::throw_no_element(i, p.shape.size());
  return p.shape.replicated() ? here() : p.group[p.shape.portion_of(i)];
}

template <class T>
T& dist_array<T>::operator[](std::size_t i) const {
  portion_type& p = portion();
  if (i >= p.shape.size()) remote::throw_no_element(i, p.shape.size());
  if (!p.shape.replicated() && p.shape.portion_of(i) != p.mine) {
    remote::throw_element_elsewhere(i, place_of(i).id());
  }
  return p.local()[p.shape.offset_of(i)];
}

template <class T>
template <class F>
void dist_array<T>::for_each_local(F f) const {
  const std::span<T> elements = local();
  const remote::dist_shape& shape = portion().shape;
  const std::size_t mine = portion().mine;
  forall(std::size_t{0}, elements.size(), [&](std::size_t k) {
    if constexpr (std::is_invocable_v<F&, std::size_t, T&>) {
      f(shape.index_of(mine, k), elements[k]);
    } else {
      static_assert(std::is_invocable_v<F&, T&>,
                    "apgas: the body of a loop over a dist_array is called with (std::size_t "
                    "index, T& element), or with (T& element)");
      f(elements[k]);
    }
  });
}

template <class T>
T dist_array<T>::get(std::size_t i) const {
  return at(place_of(i), [a = *this, i]() -> T { return a[i]; });
}

template <class T>
void dist_array<T>::put(std::size_t i, const T& x) const {
  const portion_type& p = portion();
  if (!p.shape.replicated()) {
    at(place_of(i), [a = *this, i](const T& value) { a[i] = value; }, x);
    return;
  }
  static_cast<void>(place_of(i));  // throws if there is no such element
  finish([&] {
    for (const place q : p.group) {
      async_at(q, [a = *this, i](const T& value) { a[i] = value; }, x);
    }
  });
}

template <class T>
std::vector<T> dist_array<T>::gather() const {
  const portion_type& p = portion();
  if (p.shape.replicated()) return {local().begin(), local().end()};
  std::vector<future<std::vector<T>>> portions_of_places;
  for (const place q : p.group) {
    portions_of_places.push_back(async_future_at(q, [a = *this] {
      const std::span<T> mine = a.local();
      return std::vector<T>(mine.begin(), mine.end());
    }));
  }
  std::vector<T> all(p.shape.size());
  for (std::size_t portion = 0; portion < portions_of_places.size(); ++portion) {
    const std::vector<T>& portion_values = portions_of_places[portion].get();
    for (std::size_t k = 0; k < portion_values.size(); ++k)
      all[p.shape.index_of(portion, k)] = portion_values[k];
  }
  return all;
}

template <class T>
void dist_array<T>::scatter(std::span<const T> values) const {
  const portion_type& p = portion();
  if (values.size() != p.shape.size()) remote::throw_other_size(p.shape.size(), values.size());
  finish([&] {
    for (std::size_t portion = 0; portion < p.group.size(); ++portion) {
      std::vector<T> portion_values(p.shape.size_of(portion));
      for (std::size_t k = 0; k < portion_values.size(); ++k)
        portion_values[k] = values[p.shape.index_of(portion, k)];
      async_at(
          p.group[portion],
          [a = *this](const std::vector<T>& mine) { std::ranges::copy(mine, a.local().begin()); },
          portion_values);
    }
  });
}

template <class T>
template <class R, class Op, class Map>
R dist_array<T>::reduce(R identity, Op op, Map map) const {
  const auto of_this_place = [](const dist_array& a, const R& zero, Op& plus, Map& f) {
    const std::span<T> mine = a.local();
    return parallel_reduce(
        std::size_t{0}, mine.size(), zero, [&](std::size_t k) -> R { return f(mine[k]); }, plus);
  };
  if (portion().shape.replicated()) return of_this_place(*this, identity, op, map);
  std::vector<future<R>> sums;
  for (const place q : group()) {
    sums.push_back(async_future_at(q, of_this_place, *this, identity, op, map));
  }
  R sum = std::move(identity);
  for (const future<R>& s : sums) sum = op(std::move(sum), s.get());
  return sum;
}

template <class T>
int dist_array<T>::send_edges(std::size_t turn) const {
  const portion_type& p = portion();
  const std::span<T> mine = local();
  int neighbours = 0;
  const auto send = [&](std::size_t to, bool of_portion_before, std::span<T> edge) {
    async_at(
        p.group[to],
        [a = *this, of_portion_before, turn](const std::vector<T>& values) {
          std::ranges::copy(values, (of_portion_before ? a.before() : a.behind()).begin());
          a.portion().edges.arrived(turn);
        },
        std::vector<T>(edge.begin(), edge.end()));
    ++neighbours;
  };
  if (p.halo == 0) return 0;
  if (p.mine > 0) send(p.mine - 1, false, mine.first(p.halo));
  if (p.mine + 1 < p.shape.portions()) send(p.mine + 1, true, mine.last(p.halo));
  return neighbours;
}

template <class T>
void dist_array<T>::send_halo() const {
  send_edges(remote::halo_edges::uncounted);
}

template <class T>
void dist_array<T>::swap_halo() const {
  sync::suspendable_fiber("swap_halo");
  remote::halo_edges& edges = portion().edges;
  const std::size_t turn = edges.begin();
  edges.wait(turn, send_edges(turn));
}

template <class T>
void dist_array<T>::exchange_halo() const {
  finish([&] {
    for (const place q : group()) async_at(q, [a = *this] { a.send_halo(); });
  });
}

}  // namespace apgas::inline v0
