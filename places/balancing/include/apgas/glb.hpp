// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <apgas/async_future_at.hpp>
#include <apgas/base/assert.hpp>
#include <apgas/finish.hpp>
#include <apgas/places/glb_bag.hpp>
#include <apgas/places/glb_place.hpp>
#include <apgas/places/glb_statistics.hpp>

// Global load balancing by lifelines (Saraswat et al., PPoPP 2011): work that makes more work, of
// which nobody knows in advance how much, spread over all workers of all places.
namespace apgas::inline v0 {

struct glb_parameters {
  // Tasks that a worker does between two looks at who wants work; 0: found by time, about 100 us.
  std::size_t chunk = 0;
  // Places that one without work asks at random before its lifelines.
  int random_victims = 1;
  // The lifelines of a place are the places that differ in one digit to this base. 2 is a
  // hypercube; with a larger one a place has fewer lifelines, and work longer ways. 4 balances best
  // at 100 to 100,000 simulated places (docs/performance.md).
  int radix = 4;
  // Workers of each place that take part; 0: all.
  int workers = 0;
  std::uint64_t seed = 1;
};

template <class R>
struct glb_result {
  R value;
  std::vector<glb_statistics> places;  // by place
};

namespace remote {

// Throws: illegal_operation.
void check_glb_parameters(const glb_parameters& p);

template <class Bag>
typename glb_place<Bag>::handle make_glb_places(const glb_parameters& p) {
  return glb_place<Bag>::handle::make(
      places(),
      [](const glb_parameters& with, int home) {
        const lifelines protocol(
            here().id(), num_places(), home,
            {.random_victims = with.random_victims, .radix = with.radix, .seed = with.seed});
        const int slots = with.workers == 0 ? num_workers() : with.workers;
        return glb_place<Bag>(protocol, static_cast<std::size_t>(slots), with.chunk);
      },
      p, here().id());
}

// What is left of a place after the finish. Sent.
template <class R>
struct glb_share {
  std::optional<R> result;
  glb_statistics counts;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(result, counts);
  }
};

template <class Bag>
glb_result<glb_value<Bag>> gather_glb(const typename glb_place<Bag>::handle& all) {
  using share = glb_share<glb_value<Bag>>;
  std::vector<future<share>> shares;
  for (const place p : places()) {
    shares.push_back(async_future_at(p, [all] { return share{all->result(), all->statistics()}; }));
  }
  std::optional<glb_value<Bag>> sum;
  std::vector<glb_statistics> counts;
  for (const future<share>& f : shares) {
    const share& s = f.get();
    counts.push_back(s.counts);
    if (s.result) add_result<Bag>(sum, *s.result);
  }
  APGAS_ASSERT(sum.has_value(), "no place of a glb has a bag");  // home has
  return {*std::move(sum), std::move(counts)};
}

}  // namespace remote

// Does all tasks of the bag, and those that they put in, at all places, and returns the sum of
// their results. The bag says how tasks are done and divided: glb_bag.hpp.
//
//   const auto r = glb(tree_bag(root));   // r.value, and per place: std::cout << r.places
//
// Throws: illegal_operation for parameters out of range; multiple_exceptions with what process,
// split, merge or the sending of bags threw: then the rest of those bags was not done, and all
// others were. Context: task; not inside an atomic section. May suspend and resume elsewhere.
// Cost: a message to each place to begin, one to end, one to gather; per piece of work that moves
// two, per question two; per task what process costs, and some 40 ns per chunk.
template <class Bag>
auto glb(Bag bag, const glb_parameters& parameters = {}) -> glb_result<remote::glb_value<Bag>> {
  static_assert(remote::require_glb_bag<Bag>());
  sync::suspendable_fiber("glb");
  remote::check_glb_parameters(parameters);
  const auto all = remote::make_glb_places<Bag>(parameters);
  std::exception_ptr failure;
  std::optional<glb_result<remote::glb_value<Bag>>> result;
  try {
    finish([&] { all->take(all, std::make_unique<Bag>(std::move(bag))); });
    result.emplace(remote::gather_glb<Bag>(all));
  } catch (...) {
    failure = std::current_exception();
  }
  all.destroy();
  if (failure != nullptr) std::rethrow_exception(std::move(failure));
  return *std::move(result);
}

}  // namespace apgas::inline v0
