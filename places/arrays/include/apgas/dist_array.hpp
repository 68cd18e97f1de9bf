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

// Arrays whose elements are spread over places.
namespace apgas::inline v0 {

// A handle: trivially copyable, 16 bytes; copying registers nothing, and all copies are stale after
// destroy(). The elements last until then, or until the end of the run.
//
//   const dist_array<double> a(1'000'000, distribution::block());
//   forall(a, [](std::size_t i, double& x) { x = std::sqrt(i); });         // where they are
//   const double sum = a.reduce(0.0, std::plus<>());
//   a.destroy();
//
// *One task* calls what is for all places (gather, scatter, reduce, exchange_halo, forall), at any
// place of the group; it waits until all have done their part. Constructors and destroy() may be
// called at any place at all. The rest is about the
// place where it is called. Elements that several tasks touch are theirs to synchronise.
//
// Throws, all: illegal_operation for a stale or empty handle; bad_place at a place without a part.
// Context: task; "(S)" not inside an atomic section, may suspend and resume elsewhere.
template <class T>
class dist_array {
  static_assert(remote::require_element<T>());

 public:
  using value_type = T;

  // Names nothing.
  dist_array() = default;
  // (S) Of elements T{}; or of init(i), which runs at the place of element i, or at all if
  // replicated. Throws: illegal_operation when so many elements cannot be, or the halo does not
  // fit; multiple_exceptions with what init threw, or std::bad_alloc: then there is no array.
  // Cost: a message to each place.
  dist_array(std::size_t size, distribution d, const dist_options& options = {})
      : dist_array(size, d, nothing{}, options) {}
  template <class Init>
    requires std::is_invocable_r_v<T, Init&, std::size_t>
  dist_array(std::size_t size, distribution d, Init init, const dist_options& options = {})
      : portion_(make(size, d, std::move(init), options)) {}

  std::size_t size() const { return portion().shape.size(); }
  const place_group& group() const { return portion().group; }
  // Whose element i is; of a replicated one this place. Throws: illegal_operation if i >= size().
  place place_of(std::size_t i) const;

  // ---- the elements of this place

  // In rising order of index; of blocks and of replicated ones they are consecutive. Keep the span
  // in a loop. Cost: a few loads.
  std::span<T> local() const { return portion().local(); }
  // The index of local()[k].
  std::size_t index_of(std::size_t k) const { return portion().shape.index_of(portion().mine, k); }
  // Element i, which is here. Throws: bad_place when it is not; illegal_operation if i >= size().
  T& operator[](std::size_t i) const;
  // f(i, x), or f(x), for each of them, by the workers of this place (S). Throws: as forall.
  template <class F>
  void for_each_local(F f) const;

  // ---- elements anywhere

  // (S) A copy of element i, and a new value for it. Throws: illegal_operation if i >= size().
  T get(std::size_t i) const;
  void put(std::size_t i, const T& x) const;
  // (S) All of them, in order; the reverse. Throws: illegal_operation for another size;
  // serialization_error for a part of over 1 GiB. Cost: a message to each place, and one back.
  std::vector<T> gather() const;
  void scatter(std::span<const T> values) const;
  // (S) op over identity and all elements, or over map(x) of them. op is associative and
  // commutative; both are sent. Of a replicated one the elements count once.
  template <class R, class Op, class Map = std::identity>
  R reduce(R identity, Op op, Map map = {}) const;

  // ---- halo

  // The elements of the parts beside this one, as exchange_halo left them: the last `halo` of the
  // part before, the first of the part behind. At the ends they are the boundary, T{} until set.
  std::span<T> before() const { return portion().before(); }
  std::span<T> behind() const { return portion().behind(); }
  // Sends the outermost elements of this place to the halos of its neighbours. The enclosing finish
  // waits for them; nobody may use those halos meanwhile. Cost: a message to each neighbour.
  void send_halo() const;
  // (S) At all places, and waits.
  void exchange_halo() const;
  // (S) The same by one task at each place of the group, which each send and then wait for the
  // edges of their neighbours alone: in a program whose places go on step by step, one message to
  // each neighbour for a step. A place that has its edges may be one exchange ahead, so what others
  // still read must not be what it sends next: take two arrays in turn. If a place leaves out an
  // exchange, its neighbours wait for ever.
  void swap_halo() const;

  // (S) Ends the elements at all places. Throws: illegal_operation when that has been done.
  void destroy() const {
    if (portion_ == handle()) static_cast<void>(portion());  // throws
    portion_.destroy();
  }

  bool operator==(const dist_array&) const = default;

 private:
  using portion_type = remote::array_portion<T>;
  using handle = place_local<portion_type>;
  struct nothing {
    T operator()(std::size_t) const { return T{}; }
  };

  template <class Init>
  static handle make(std::size_t size, distribution d, Init init, const dist_options& options);
  portion_type& portion() const { return remote::place_local_access::get(portion_, "dist_array"); }
  // To how many neighbours.
  int send_edges(std::size_t turn) const;

  handle portion_;
};

// (S) body(i, x), or body(x), for each element at its place, by the workers there; replicated: at
// all places. The body is sent. A finish as well: it waits for what the body spawns.
// Throws: multiple_exceptions. Cost: a message to each place, and what forall costs there.
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
  std::vector<future<std::vector<T>>> portion_values_of;
  for (const place q : p.group) {
    portion_values_of.push_back(async_future_at(q, [a = *this] {
      const std::span<T> mine = a.local();
      return std::vector<T>(mine.begin(), mine.end());
    }));
  }
  std::vector<T> all(p.shape.size());
  for (std::size_t portion = 0; portion < portion_values_of.size(); ++portion) {
    const std::vector<T>& portion_values = portion_values_of[portion].get();
    for (std::size_t k = 0; k < portion_values.size(); ++k) all[p.shape.index_of(portion, k)] = portion_values[k];
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
      for (std::size_t k = 0; k < portion_values.size(); ++k) portion_values[k] = values[p.shape.index_of(portion, k)];
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
          a.portion().edges.came(turn);
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
