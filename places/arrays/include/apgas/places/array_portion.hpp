// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <apgas/comm/byte_copyable.hpp>
#include <apgas/place_local.hpp>
#include <apgas/places/dist_shape.hpp>
#include <apgas/semaphore.hpp>

// What a place has of an array over places, and what is wrong with a use of one.
namespace apgas::inline v0::remote {

template <class T>
consteval bool require_element() {
  static_assert(comm::byte_copyable<T>,
                "apgas: the elements of an array over places must be trivially copyable, without "
                "pointers and references: they are copied between places as bytes. For others "
                "(std::string, std::vector) take a place_local<std::vector<T>>");
  return comm::byte_copyable<T>;
}

// The edges that have come from the neighbours for an exchange which a task here waits in. A
// neighbour that has all of its own may have begun the next exchange: so there are two counts.
class halo_edges {
 public:
  static constexpr std::size_t uncounted = 2;  // as a turn: nobody waits for this edge

  // The turn of the exchange that begins. Context: the task that will wait.
  std::size_t begin() noexcept { return begun_++ % 2; }
  void came(std::size_t turn) {
    if (turn != uncounted) counts_[turn].came.release();
  }
  void wait(std::size_t turn, int neighbours) {
    for (; neighbours > 0; --neighbours) counts_[turn].came.acquire();
  }

 private:
  struct count {
    semaphore came{0};
  };

  std::size_t begun_ = 0;
  std::unique_ptr<count[]> counts_ = std::make_unique<count[]>(2);
};

// Of a dist_array: `halo` elements of the part before, the own ones, and `halo` of the part behind.
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

// Throws: illegal_operation when an array of so many elements of so many bytes cannot be, or when
// there is no place for it, or when a halo does not fit.
void check_dist_array(const dist_shape& shape, std::size_t element_bytes, std::size_t halo,
                      std::size_t group_size);
void check_dist_grid(std::size_t rows, std::size_t columns, std::size_t element_bytes,
                     std::size_t group_size);
// Throws: illegal_operation when rows or columns of a part are fewer than its halo.
void check_dist_halo(const char* what, std::size_t fewest, std::size_t halo);

[[noreturn]] void throw_no_element(std::size_t i, std::size_t size);  // illegal_operation
[[noreturn]] void throw_element_elsewhere(std::size_t i, int at);     // bad_place
[[noreturn]] void throw_other_size(std::size_t wanted, std::size_t found);

}  // namespace apgas::inline v0::remote
