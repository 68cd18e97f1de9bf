// SPDX-License-Identifier: Apache-2.0

// Coroutines. Fibonacci numbers by coroutines that await each other in one task, beside the least
// lazy coroutine that C++20 permits, which resumes its caller by symmetric transfer; and with a
// started coroutine for every other call, beside the same futures with plain tasks.

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"

namespace bench {
namespace {

using number = std::int64_t;

[[gnu::noinline]] number call(int n) { return n < 2 ? n : call(n - 1) + call(n - 2); }

apgas::task<number> awaited(int n) {
  if (n < 2) co_return n;
  const number left = co_await awaited(n - 1);
  co_return left + co_await awaited(n - 2);
}

apgas::task<number> started(int n) {
  if (n < 2) co_return n;
  const apgas::future<number> left = apgas::async_future(started(n - 1));
  const number right = co_await started(n - 2);
  co_return right + co_await left;
}

number with_futures(int n) {
  if (n < 2) return n;
  const apgas::future<number> left = apgas::async_future([n] { return with_futures(n - 1); });
  const number right = with_futures(n - 2);
  return right + left.get();
}

// The peer: a lazy coroutine without a runtime.
class lazy {
 public:
  struct promise_type {
    lazy get_return_object() noexcept {
      return lazy(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    struct at_end {
      static bool await_ready() noexcept { return false; }
      static std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().awaiting;
      }
      static void await_resume() noexcept {}
    };
    static at_end final_suspend() noexcept { return {}; }
    void return_value(number n) noexcept { value = n; }
    [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }

    std::coroutine_handle<> awaiting = std::noop_coroutine();
    number value = 0;
  };

  lazy(lazy&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  lazy& operator=(lazy&&) = delete;
  ~lazy() {
    if (handle_) handle_.destroy();
  }

  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  number await_resume() const noexcept { return handle_.promise().value; }
  number run() const {
    handle_.resume();
    return handle_.promise().value;
  }

 private:
  explicit lazy(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

lazy transferred(int n) {
  if (n < 2) co_return n;
  const number left = co_await transferred(n - 1);
  co_return left + co_await transferred(n - 2);
}

}  // namespace

benchmark coroutines(const sizes& s) {
  const int n = s.coroutine_fib;
  const number value = call(n);
  const auto calls = static_cast<double>(2 * call(n + 1) - 1);
  benchmark b{"coroutines", "call", calls, calls, {}};
  add_serial(b, "plain calls", call, n, value);
  b.variants.push_back({"std coroutine, symmetric transfer", role::peer, 1,
                        timed([](int m) { return transferred(m).run(); }, n, value)});
  add_ours(
      b, "apgas task<T>, co_await", [](int m) { return apgas::sync_wait(awaited(m)); }, n, value);
  add_ours(
      b, "apgas async_future of task<T>", [](int m) { return apgas::sync_wait(started(m)); }, n,
      value);
  add_ours(b, "apgas async_future of a function", with_futures, n, value);
  return b;
}

}  // namespace bench
