// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>

#include <apgas/at.hpp>
#include <apgas/base/api.hpp>

// at with a result that is received into memory of the caller.
namespace apgas::inline v0 {

namespace remote {

// Throws illegal_operation, because the function returned a different number of elements at place
// p.
APGAS_API [[noreturn]] void refuse_result_size(place p, std::size_t returned, std::size_t wanted);

template <class Result, class T>
concept elements_range =
    std::ranges::contiguous_range<Result> && std::ranges::sized_range<Result> &&
    std::same_as<std::ranges::range_value_t<Result>, T>;

// The form of the reply of at_into: the elements of the range that f returned.
template <class T>
struct reply_with_elements {
  template <class Result>
  static consteval bool require() {
    static_assert(elements_range<Result, T>,
                  "apgas: the function of at_into must return a contiguous range with elements of "
                  "the type of the span, such as std::vector<T>, std::array<T, n> or "
                  "std::span<const T>");
    return true;
  }
  template <class Result>
  static constexpr bool may_be_zero_copy = true;
  template <class Range>
  static std::span<const T> elements(const Range& range) {
    return {std::ranges::data(range), std::ranges::size(range)};
  }
  template <class Range>
  static void save(comm::out_archive& to, const Range& range) {
    to.append_range(elements(range));
  }
};

template <class T>
inline constexpr bool is_span = false;
template <class T, std::size_t Extent>
inline constexpr bool is_span<std::span<T, Extent>> = true;

template <class T>
consteval bool require_span_to_receive() {
  static_assert(!std::is_const_v<T>,
                "apgas: at_into writes to this span, so its elements cannot be const");
  if constexpr (!std::is_const_v<T>) {
    static_assert(comm::detail::as_bytes<T>,
                  "apgas: at_into receives elements as their bytes, so they must be trivially "
                  "copyable, without pointers, and without a serialize of their own. Use at for "
                  "elements of other types");
  }
  return true;
}

// at_into whose target is the caller's own place.
template <class T, class F, class... Args>
void run_here_into(place here, std::span<T> result, const F& f, const Args&... args) {
  const sync::own_locals none(*scheduler::current_fiber(), false);
  auto body = copy_body<F, Args...>(f, args...);
  const auto& returned = body();
  const std::span<const T> from = reply_with_elements<T>::elements(returned);
  if (from.size() != result.size()) refuse_result_size(here, from.size(), result.size());
  if (!from.empty()) std::memmove(result.data(), from.data(), from.size_bytes());
}

}  // namespace remote

// Runs f(args...) at place p, as `at` does, and receives the elements of the range that f returns
// into `result`, which is memory of the caller. Nothing is allocated for them here, and nothing is
// filled with zeros, so this is the fastest way to fetch a large result.
//
//   std::vector<double> row(1'000);
//   apgas::at_into(p, std::span(row), [](int i) -> std::span<const double> {
//     return my_rows()[i];
//   }, 7);
//
// `T` is a type that is sent as its bytes: trivially copyable, without pointers and without a
// serialize of its own. f returns a contiguous range of T with exactly result.size() elements: a
// std::vector or std::array, by value or by reference, or a std::span. The elements behind a
// reference or a span must exist, and stay unchanged, until at_into has returned: they can belong
// to an object of place p or to an argument that f takes by reference, but not to a local variable
// of f. `result` must not be accessed by others meanwhile.
//
// Within a host, a range of 16 KiB or more is read from the memory of place p directly into
// `result`: one copy in all. Otherwise, and if the kernel or APGAS_ONE_SIDED=messages does not
// allow that, a message carries the elements. If p is the caller's own place, they are copied.
// The rules for f and args are those of `at`, zero-copy arguments included.
//
// Throws:
//   - what left f, as `at` does. `result` is unchanged then.
//   - illegal_operation if f returned a different number of elements, with both numbers in the
//     message; f has run, and `result` is unchanged. Also inside `atomic` or `when`, or outside a
//     task; f was not run then.
//   - serialization_error as `at` does; part of `result` may have been overwritten then.
// Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: as `at`; for a range that is read directly, two more small messages, for which the caller
// does not wait. The task at place p ends when the caller has read the range.
template <class T, std::size_t Extent, class F, class... Args>
void at_into(sync::spawn_from<place> p, std::span<T, Extent> result, F&& f, Args&&... args) {
  static_assert(remote::require_span_to_receive<T>());
  if constexpr (!std::is_const_v<T> && comm::detail::as_bytes<T>) {
    using reply = remote::reply_with_elements<T>;
    using body_type = remote::remote_body<F, Args...>;
    static_assert(reply::template require<typename body_type::result>());
    const std::span<T> to = result;
    scheduler::fiber& self = sync::suspendable_fiber("at_into");
    sync::place_state& state = sync::place_of(self);
    if (p.value.id() == state.here) {
      return remote::run_here_into<T, std::decay_t<F>, std::decay_t<Args>...>(p.value, to, f,
                                                                              args...);
    }
    sync::suspended_call call(state, sync::finish_of(self));
    remote::call_and_wait<reply, std::decay_t<F>, std::decay_t<Args>...>(self, call, p, f, args...);
    comm::in_archive in(call.value(), &state.endpoint->cma_process_of(call.from()));
    const std::size_t returned = in.read_range_into(to);
    if (returned != to.size()) remote::refuse_result_size(p.value, returned, to.size());
  }
}

// A call whose second argument is not a span. It does not compile, and one sentence of the compiler
// says why.
template <class R, class... Rest>
  requires(!remote::is_span<std::remove_cvref_t<R>>)
void at_into(sync::spawn_from<place>, R&&, Rest&&...) {
  static_assert(remote::is_span<std::remove_cvref_t<R>>,
                "apgas: the second argument of at_into must be a std::span, into which the result "
                "is received: at_into(p, std::span(v), f)");
}

}  // namespace apgas::inline v0
