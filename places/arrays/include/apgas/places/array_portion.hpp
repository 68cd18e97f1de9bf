// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/comm/byte_copyable.hpp>
#include <apgas/place_local.hpp>
#include <apgas/places/dist_shape.hpp>
#include <apgas/semaphore.hpp>

// The local portion of a dist_array, and the checks of distributed arrays.
namespace apgas::inline v0::remote {

template <class T>
consteval bool require_element() {
  static_assert(comm::byte_copyable<T>,
                "apgas: the elements of a distributed array must be trivially copyable, without "
                "pointers and references, since they are copied between places as bytes. For "
                "others (std::string, std::vector) use a place_local<std::vector<T>>");
  return comm::byte_copyable<T>;
}

// Counts the edges that have arrived from the neighbours, for the exchange that a task at this
// place waits in. A neighbour that has received all of its own edges may begin the next exchange,
// so there are two counts, used in turn.
class halo_edges {
 public:
  static constexpr std::size_t uncounted = 2;  // a turn for edges that no task waits for

  // Begins an exchange and returns its turn.
  // Context: the task that will wait.
  std::size_t begin() noexcept { return begun_++ % 2; }
  // An edge has arrived. Context: the task that brought it.
  void arrived(std::size_t turn) {
    if (turn != uncounted) counts_[turn].arrived.release();
  }
  // Waits for the edges of that many neighbours. Context: task; may suspend.
  void wait(std::size_t turn, int neighbours) {
    for (; neighbours > 0; --neighbours) counts_[turn].arrived.acquire();
  }

 private:
  struct count {
    semaphore arrived{0};
  };

  std::size_t begun_ = 0;
  std::unique_ptr<count[]> counts_ = std::make_unique<count[]>(2);
};

// The portion: `halo` elements of the previous place, the elements of this place, and `halo`
// elements of the next place.
template <class T>
struct array_portion {
  array_portion(const dist_shape& s, place_group g, std::size_t portion, std::size_t halo_size)
      : shape(s),
        group(std::move(g)),
        mine(portion),
        halo(halo_size),
        data(std::make_unique<T[]>(s.size_of(portion) + 2 * halo_size)) {}

  std::span<T> local() noexcept { return {data.get() + halo, shape.size_of(mine)}; }
  std::span<T> before() noexcept { return {data.get(), halo}; }
  std::span<T> behind() noexcept { return {data.get() + halo + shape.size_of(mine), halo}; }

  dist_shape shape;
  place_group group;
  std::size_t mine;
  std::size_t halo;
  std::unique_ptr<T[]> data;
  halo_edges edges;
};

// Throw illegal_operation if the array is too large to be addressed, if it has no place, or if its
// halo does not fit.
APGAS_API void check_dist_array(const dist_shape& shape, std::size_t element_bytes,
                                std::size_t halo, std::size_t group_size);
APGAS_API void check_dist_grid(std::size_t rows, std::size_t columns, std::size_t element_bytes,
                               std::size_t group_size);
// Throws illegal_operation if a place has fewer elements in a direction than the halo is wide.
// `what` names the direction, `fewest` is the least number at any place.
APGAS_API void check_dist_halo(const char* what, std::size_t fewest, std::size_t halo);

APGAS_API [[noreturn]] void throw_no_element(std::size_t i, std::size_t size);  // illegal_operation
APGAS_API [[noreturn]] void throw_element_elsewhere(std::size_t i, int at);     // bad_place
APGAS_API [[noreturn]] void throw_other_size(std::size_t wanted, std::size_t found);

}  // namespace apgas::inline v0::remote
