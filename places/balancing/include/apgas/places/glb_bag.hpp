// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/comm/sendable.hpp>

// The requirements on a bag of glb: as a concept, and as compile-time errors that name a missing
// member.
namespace apgas::inline v0 {

// A bag holds tasks, and the result of the tasks that were processed in it (X10 GLB's TaskBag and
// TaskQueue).
//
//   std::size_t process(std::size_t n)   Processes up to n tasks, which may put new tasks into the
//                                        bag. Returns how many; fewer than n means that the bag
//                                        is empty.
//   std::optional<Bag> split()           Removes about half of the tasks and returns them as a bag
//                                        without a result. Returns nothing if there are too few.
//   void merge(Bag&& other)              Moves the tasks of `other`, which has no result, into this
//                                        bag, which has no task left.
//   R result() const                     Returns the result of the tasks processed in this bag.
//                                        Results of all bags are added up in any order by +, or by
//                                        a static member R reduce(R, R).
//   std::size_t size() const             Optional: the number of tasks in the bag. If it exists,
//                                        glb checks that no split, merge or transfer loses or
//                                        duplicates tasks.
//
// A bag must be movable and sendable (at.hpp): trivially copyable, or with a Cereal serialize,
// which sends the tasks without the result. The members of one bag are never called concurrently;
// those of different bags are. process() may suspend. Tasks that it spawns belong to the finish
// inside glb().
template <class B>
concept glb_bag = std::move_constructible<B> && comm::sendable_value<B> &&
                  requires(B& bag, const B& same, B&& other, std::size_t n) {
                    { bag.process(n) } -> std::same_as<std::size_t>;
                    { bag.split() } -> std::same_as<std::optional<B>>;
                    bag.merge(std::move(other));
                    requires comm::sendable_value<std::decay_t<decltype(same.result())>>;
                  };

namespace remote {

template <class B>
using glb_value = std::decay_t<decltype(std::declval<const B&>().result())>;

template <class B>
concept reduces_itself = requires(glb_value<B> a, glb_value<B> b) {
  { B::reduce(std::move(a), std::move(b)) } -> std::convertible_to<glb_value<B>>;
};
template <class B>
concept reduces_by_plus = requires(glb_value<B> a, glb_value<B> b) {
  { std::move(a) + std::move(b) } -> std::convertible_to<glb_value<B>>;
};

template <class B>
concept sized_bag = requires(const B& bag) {
  { bag.size() } -> std::convertible_to<std::size_t>;
};

// Compiles only for a bag. Otherwise the compiler prints which member is missing.
template <class B>
consteval bool require_glb_bag() {
  static_assert(std::move_constructible<B>, "apgas: a bag of glb must be movable");
  static_assert(
      requires(B& bag, std::size_t n) {
        { bag.process(n) } -> std::same_as<std::size_t>;
      },
      "apgas: a bag of glb needs std::size_t process(std::size_t n), which does up to n tasks and "
      "returns how many; fewer than n when the bag is empty");
  static_assert(
      requires(B& bag) {
        { bag.split() } -> std::same_as<std::optional<B>>;
      },
      "apgas: a bag of glb needs std::optional<Bag> split(), which takes about half of the tasks "
      "out, or returns nothing when there are too few");
  static_assert(
      requires(B& bag, B&& other) { bag.merge(std::move(other)); },
      "apgas: a bag of glb needs void merge(Bag&& other), which puts the tasks of the other bag "
      "into this one");
  static_assert(
      requires(const B& bag) { bag.result(); },
      "apgas: a bag of glb needs a const member result() that returns the result of the tasks that "
      "were processed in it");
  static_assert(comm::require_sendable_value<B>());
  if constexpr (requires(const B& bag) { bag.result(); }) {
    static_assert(comm::require_sendable_value<glb_value<B>>());
    static_assert(reduces_itself<B> || reduces_by_plus<B>,
                  "apgas: results of a bag of glb are added up, so the type that result() returns "
                  "needs operator+, or the bag a static R reduce(R, R)");
  }
  return glb_bag<B>;
}

template <class B>
glb_value<B> reduce_results(glb_value<B> a, glb_value<B> b) {
  if constexpr (reduces_itself<B>) {
    return B::reduce(std::move(a), std::move(b));
  } else {
    return std::move(a) + std::move(b);
  }
}

// Adds a result to the sum of earlier ones, if there are any.
template <class B>
void add_result(std::optional<glb_value<B>>& sum, glb_value<B> more) {
  if (!sum) {
    sum.emplace(std::move(more));
    return;
  }
  glb_value<B> both = reduce_results<B>(std::move(*sum), std::move(more));
  sum.emplace(std::move(both));
}

// Throw illegal_operation and name the mistake of the bag.
APGAS_API [[noreturn]] void throw_split_lost(std::size_t before, std::size_t kept,
                                             std::size_t given);
APGAS_API [[noreturn]] void throw_merge_lost(std::size_t before, std::size_t put_in,
                                             std::size_t after);
APGAS_API [[noreturn]] void throw_too_many_done(std::size_t wanted, std::size_t done);

// split() and merge() of a bag. If it has a size(), they check that no task is lost or duplicated.
template <class B>
std::optional<B> split_checked(B& bag) {
  if constexpr (sized_bag<B>) {
    const auto before = static_cast<std::size_t>(bag.size());
    std::optional<B> part = bag.split();
    const auto kept = static_cast<std::size_t>(bag.size());
    const std::size_t given = part ? static_cast<std::size_t>(part->size()) : 0;
    if (kept + given != before) throw_split_lost(before, kept, given);
    return part;
  } else {
    return bag.split();
  }
}
template <class B>
void merge_checked(B& bag, std::type_identity_t<B>&& part) {
  if constexpr (sized_bag<B>) {
    const auto before = static_cast<std::size_t>(bag.size());
    const auto put_in = static_cast<std::size_t>(part.size());
    bag.merge(std::move(part));
    const auto after = static_cast<std::size_t>(bag.size());
    if (after != before + put_in) throw_merge_lost(before, put_in, after);
  } else {
    bag.merge(std::move(part));
  }
}

}  // namespace remote
}  // namespace apgas::inline v0
