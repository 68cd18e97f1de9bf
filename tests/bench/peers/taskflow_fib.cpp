// SPDX-License-Identifier: Apache-2.0

// Taskflow as a peer: its task group, which is in version 4.

#include <memory>

#include <taskflow/taskflow.hpp>

#include "fib_peer.hpp"

namespace {

peers::number fib(tf::Executor& executor, int n) {
  if (n < 2) return n;
  peers::number a = 0;
  tf::TaskGroup group = executor.task_group();
  group.silent_async([&executor, &a, n] { a = fib(executor, n - 1); });
  const peers::number b = fib(executor, n - 2);
  group.corun();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  return peers::fib_main(argc, argv, [](int workers) {
    const auto executor = std::make_shared<tf::Executor>(static_cast<std::size_t>(workers));
    return [executor](int n) {
      return executor->async([executor, n] { return fib(*executor, n); }).get();
    };
  });
}
