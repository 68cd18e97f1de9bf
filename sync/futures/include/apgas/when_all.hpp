// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <apgas/sync/future_handle.hpp>

// Combines futures: when_all is ready when all of several futures are, when_any when one of them
// is. Neither is a task: nothing runs for it and no finish waits for it. A future that failed
// counts as ready; the exception is thrown by get() of that future, not by get() of the
// combination.
//
//   const auto a = apgas::async_future([] { return compute(); });
//   const auto b = apgas::async_future([] { return compute(); });
//   apgas::when_all(a, b).wait();
//
//   const std::vector tries{a, b};
//   const apgas::when_any_result first = apgas::when_any(tries).get();
//   use(first.futures[first.index].get());
namespace apgas::inline v0 {

// The result of when_any: which future was ready first, and all the futures in the order given.
template <class Sequence>
struct when_any_result {
  std::size_t index = none;  // position in `futures`; `none` if there were no futures
  Sequence futures;          // a std::tuple or a std::vector of futures
  // The index if there were no futures.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

namespace detail {

template <class T>
inline constexpr bool is_future = false;
template <class T>
inline constexpr bool is_future<future<T>> = true;

template <class R>
concept future_range = std::ranges::input_range<R> &&
                       is_future<std::remove_cvref_t<std::ranges::range_reference_t<R>>>;

// Returns the states of the futures. Throws: illegal_operation for an empty handle.
template <class... T>
auto states_of(const char* operation, const std::tuple<future<T>...>& futures) {
  return std::apply(
      [operation](const auto&... f) {
        return std::array<sync::future_core*, sizeof...(T)>{
            &sync::future_access::state(f, operation)...};
      },
      futures);
}

template <class T>
auto states_of(const char* operation, const std::vector<future<T>>& futures) {
  std::vector<sync::future_core*> states;
  states.reserve(futures.size());
  for (const auto& f : futures) states.push_back(&sync::future_access::state(f, operation));
  return states;
}

template <future_range R>
auto copy_futures(R&& range) {
  std::vector<std::remove_cvref_t<std::ranges::range_reference_t<R>>> futures;
  if constexpr (std::ranges::sized_range<R>) futures.reserve(std::ranges::size(range));
  for (auto&& f : range) futures.push_back(f);
  return futures;
}

template <class Sequence>
future<Sequence> all_futures(Sequence futures) {
  sync::task_fiber("when_all");
  auto state = sync::ref<sync::future_state<Sequence>>::adopt(new sync::future_state<Sequence>);
  const auto awaited = states_of("when_all", state->emplace(std::move(futures)));
  sync::publish_when_all(state, awaited);
  return sync::future_access::make(std::move(state));
}

template <class Sequence>
future<when_any_result<Sequence>> any_future(Sequence futures) {
  using result = when_any_result<Sequence>;
  sync::task_fiber("when_any");
  auto state = sync::ref<sync::future_state<result>>::adopt(new sync::future_state<result>);
  result& value = state->emplace(result{.index = result::none, .futures = std::move(futures)});
  const auto awaited = states_of("when_any", value.futures);
  sync::publish_when_any(state, value.index, awaited);
  return sync::future_access::make(std::move(state));
}

}  // namespace detail

// Returns a future of all the given futures, as a std::tuple of them, that is ready when each of
// them is. Without arguments it is ready at once.
//
// Throws: illegal_operation outside a task and for an empty handle; std::bad_alloc.
// Context: task; does not suspend. Cost: three allocations, and a short lock for each future.
template <class... T>
future<std::tuple<future<T>...>> when_all(const future<T>&... futures) {
  return detail::all_futures(std::tuple<future<T>...>(futures...));
}

// The same for a range of futures, as a std::vector of them in the order of the range.
template <detail::future_range R>
auto when_all(R&& futures) {
  return detail::all_futures(detail::copy_futures(std::forward<R>(futures)));
}

// Returns a future of a when_any_result that is ready when the first of the given futures is.
// Without arguments it is ready at once, with the index `none`. Throws, Context, Cost: as when_all.
template <class... T>
future<when_any_result<std::tuple<future<T>...>>> when_any(const future<T>&... futures) {
  return detail::any_future(std::tuple<future<T>...>(futures...));
}

// The same for a range of futures, which the result holds as a std::vector.
template <detail::future_range R>
auto when_any(R&& futures) {
  return detail::any_future(detail::copy_futures(std::forward<R>(futures)));
}

}  // namespace apgas::inline v0
