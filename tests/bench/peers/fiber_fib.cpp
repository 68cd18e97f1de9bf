// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber as a peer: a fiber for each spawn, with its scheduler round_robin on one thread and
// work_stealing on several.

#include <memory>
#include <thread>
#include <vector>

#include <boost/fiber/all.hpp>

#include "fib_peer.hpp"

namespace {

namespace fibers = boost::fibers;

constexpr std::size_t stack_bytes = 16 * 1024;

peers::number fib(int n) {
  if (n < 2) return n;
  peers::number a = 0;
  fibers::fiber child(fibers::launch::dispatch, std::allocator_arg,
                      fibers::fixedsize_stack(stack_bytes), [&a, n] { a = fib(n - 1); });
  const peers::number b = fib(n - 2);
  child.join();
  return a + b;
}

// Threads that run fibers of each other while this object exists. The scheduler counts the threads
// of the process, so that there is one such object.
class stealing_threads {
 public:
  explicit stealing_threads(int count) {
    const auto take_part = [count] {
      fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(
          static_cast<std::uint32_t>(count));
    };
    for (int i = 1; i < count; ++i) {
      others_.emplace_back([this, take_part] {
        take_part();
        std::unique_lock hold(lock_);
        changed_.wait(hold, [this] { return done_; });
      });
    }
    if (count > 1) take_part();
  }
  ~stealing_threads() {
    {
      const std::lock_guard hold(lock_);
      done_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : others_) each.join();
  }
  stealing_threads(const stealing_threads&) = delete;
  stealing_threads& operator=(const stealing_threads&) = delete;

 private:
  fibers::mutex lock_;
  fibers::condition_variable changed_;
  bool done_ = false;
  std::vector<std::thread> others_;
};

}  // namespace

int main(int argc, char** argv) {
  return peers::fib_main(argc, argv, [](int workers) {
    return [threads = std::make_shared<stealing_threads>(workers)](int n) {
      peers::number result = 0;
      fibers::fiber([&result, n] { result = fib(n); }).join();
      return result;
    };
  });
}
