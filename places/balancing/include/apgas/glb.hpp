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
#include <apgas/base/api.hpp>
#include <apgas/base/assert.hpp>
#include <apgas/finish.hpp>
#include <apgas/places/glb_bag.hpp>
#include <apgas/places/glb_place.hpp>
#include <apgas/places/glb_statistics.hpp>

// Global load balancing with lifelines (X10's GLB; Saraswat et al., PPoPP 2011; Zhang et al., PPAA
// 2014). For irregular work, whose tasks create more tasks and whose total amount is not known in
// advance: it is spread over all workers of all places by work stealing.
namespace apgas::inline v0 {

// Parameters of glb(). The defaults suit most programs.
struct glb_parameters {
  // How many tasks a worker processes before it looks for steal requests. 0 adapts the number, so
  // that processing takes about 100 us.
  std::size_t chunk = 0;
  // How many random places a place without work tries to steal from before it asks its lifelines.
  int random_victims = 1;
  // The base of the lifeline graph: the lifelines of a place are places whose number differs from
  // its own in one digit to this base. 2 makes a hypercube; a larger radix gives each place fewer
  // lifelines, and work needs more steps from place to place. 4 balanced best with 100 to 100,000
  // simulated places (docs/performance.md).
  int radix = 4;
  // How many workers of each place participate; 0 means all.
  int workers = 0;
  // Seed for the choice of random victims.
  std::uint64_t seed = 1;
};

// What glb() returns.
template <class R>
struct glb_result {
  R value;                             // the results of all bags, combined
  std::vector<glb_statistics> places;  // indexed by place number
};

namespace remote {

// Throws illegal_operation if a parameter is out of range.
APGAS_API void check_glb_parameters(const glb_parameters& p);

inline constexpr std::size_t glb_chunk_with_seed = 16;

template <class Bag>
typename glb_place<Bag>::handle make_glb_places(const glb_parameters& p) {
  return glb_place<Bag>::handle::make(
      places(),
      [](const glb_parameters& with, int home) {
        const lifelines protocol(
            here().id(), num_places(), home,
            {.random_victims = with.random_victims, .radix = with.radix, .seed = with.seed});
        const int slots = with.workers == 0 ? num_workers() : with.workers;
        // With a seeded schedule the pace must not depend on the time.
        const std::size_t chunk =
            with.chunk == 0 && scheduler::has_virtual_time() ? glb_chunk_with_seed : with.chunk;
        return glb_place<Bag>(protocol, static_cast<std::size_t>(slots), chunk);
      },
      p, here().id());
}

// What each place contributes at the end: its result, if it processed any task, and its statistics.
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
  APGAS_ASSERT(sum.has_value(), "no place of a glb has a bag");  // the caller's place has one
  return {*std::move(sum), std::move(counts)};
}

}  // namespace remote

// Processes all tasks of the bag, and all tasks that these put in, using the workers of all places.
// Returns the sum of the results of all bags, and statistics for each place. The bag is a type of
// the program that processes, splits and merges tasks (glb_bag.hpp). `parameters` tune stealing.
//
//   struct numbers {  // a bag; the task `number` makes the tasks number - 1 and number - 2
//     std::vector<int> tasks;
//     long leaves = 0;
//
//     std::size_t process(std::size_t n) {
//       std::size_t done = 0;
//       for (; done < n && !tasks.empty(); ++done) {
//         const int number = tasks.back();
//         tasks.pop_back();
//         if (number < 2) {
//           ++leaves;
//         } else {
//           tasks.insert(tasks.end(), {number - 1, number - 2});
//         }
//       }
//       return done;
//     }
//     std::optional<numbers> split() {
//       if (tasks.size() < 2) return std::nullopt;
//       const auto middle = tasks.begin() + static_cast<std::ptrdiff_t>(tasks.size() / 2);
//       numbers half{{tasks.begin(), middle}};
//       tasks.erase(tasks.begin(), middle);
//       return half;
//     }
//     void merge(numbers&& other) { tasks = std::move(other.tasks); }
//     long result() const { return leaves; }
//     template <class Archive>
//     void serialize(Archive& archive) {
//       archive(tasks);
//     }
//   };
//
//   const apgas::glb_parameters parameters{.random_victims = 2};
//   const apgas::glb_result<long> r = apgas::glb(numbers{{20}}, parameters);
//   std::cout << r.value << '\n' << r.places;
//
// Throws: illegal_operation if a parameter is out of range, inside `atomic` or `when`, or outside a
// task; multiple_exceptions with everything that members of bags threw. A bag whose member throws
// is given up with its remaining tasks; all other bags are processed to the end.
// Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: about three messages for each place (begin, end, result), two for each steal attempt, and
// two for each loot that moves; beside process(), about 40 ns for each chunk.
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
